package command

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

// FormatGitHub is the form of output that a workflow of GitHub Actions shows beside
// the lines of a change.
const FormatGitHub = "github"

// The values of --output. Every report has the first two; some have more.
const (
	FormatText = "text"
	FormatJSON = "json"
)

var formats = []string{FormatText, FormatJSON}

// BindOutput adds the flag that chooses the form of a report.
func BindOutput(cmd *cobra.Command, form *string, more ...string) {
	all := slices.Concat(formats, more)
	last := len(all) - 1
	cmd.Flags().StringVar(form, "output", formats[0], "form of the report: "+strings.Join(all[:last], ", ")+" or "+all[last])
	CompleteValues(cmd, "output", all...)
}

// CheckOutput checks the value of that flag.
func CheckOutput(form string, more ...string) error {
	all := slices.Concat(formats, more)
	if slices.Contains(all, form) {
		return nil
	}
	return fault.Usage("valid values: "+strings.Join(all, ", "), "unknown --output %q", form)
}
