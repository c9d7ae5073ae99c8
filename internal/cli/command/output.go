package command

import (
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

// BindOutput adds the flag --output, with more formats besides text and JSON.
func BindOutput(cmd *cobra.Command, format *string, more ...string) {
	all := slices.Concat(formats, more)
	last := len(all) - 1
	cmd.Flags().StringVar(format, "output", FormatText, "output format: "+strings.Join(all[:last], ", ")+" or "+all[last])
	CompleteValues(cmd, "output", all...)
}

// CheckOutput validates the value of that flag.
func CheckOutput(format string, more ...string) error {
	all := slices.Concat(formats, more)
	if slices.Contains(all, format) {
		return nil
	}
	return fault.Usage("valid values: "+strings.Join(all, ", "), "unknown --output %q", format)
}
