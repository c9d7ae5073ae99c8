package command

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

// The values of --output. Every report has the first two; some have more.
const (
	FormatText   = "text"
	FormatJSON   = "json"
	FormatGitHub = "github" // annotations, which GitHub Actions shows at the changed lines
)

var formats = []string{FormatText, FormatJSON}

// BindOutput adds the flag --output, -o for short, with more formats besides text and JSON.
func BindOutput(cmd *cobra.Command, format *string, more ...string) {
	all := slices.Concat(formats, more)
	last := len(all) - 1
	cmd.Flags().StringVarP(format, "output", "o", FormatText, "output format: "+strings.Join(all[:last], ", ")+" or "+all[last])
	CompleteValues(cmd, "output", all...)
}

// CheckOutput validates the value of that flag.
func CheckOutput(format string, more ...string) error {
	return CheckValue("output", format, slices.Concat(formats, more)...)
}

// CheckValue validates the value of a flag that has a list of valid values.
func CheckValue(flag, value string, valid ...string) error {
	if slices.Contains(valid, value) {
		return nil
	}
	return fault.Usage("valid values: "+strings.Join(valid, ", "), "unknown --%s %q", flag, value)
}

// apiVersion is the version of every JSON report.
const apiVersion = "operon.dev/v1"

// Frame is the first part of every JSON report. A report is a struct that embeds it first.
//
// The entries of a list are in items. Older reports also have the same list under another
// key, such as changes or findings. Keys and kinds are never renamed or removed, because
// scripts read them; new keys may be added. An empty list is [], not null.
type Frame struct {
	APIVersion string `json:"apiVersion"` // operon.dev/v1
	Kind       string `json:"kind"`       // of the report, such as Plan
	Command    string `json:"command"`    // without operon and without flags, such as "create api"
}

// NewFrame returns the frame of a report.
func NewFrame(command, kind string) Frame {
	return Frame{APIVersion: apiVersion, Kind: kind, Command: command}
}

// commandName returns the words of a command without "operon".
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// PrintJSON prints a report.
func PrintJSON(out io.Writer, report any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(report)
}
