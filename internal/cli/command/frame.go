package command

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

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
