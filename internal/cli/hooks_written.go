package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/spf13/cobra"
)

// writtenFiles names files that hooks wrote while they ran.
type writtenFiles struct{ patches, metrics, admission, conversion []string }

// bind adds the flags.
func (w *writtenFiles) bind(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&w.patches, "patches", nil, "a `file` that a hook wrote to $KUBERNETES_PATCH_PATH")
	cmd.Flags().StringArrayVar(&w.metrics, "metrics", nil, "a `file` that a hook wrote to $METRICS_PATH")
	cmd.Flags().StringArrayVar(&w.admission, "admission", nil, "a `file` that a hook wrote to $ADMISSION_RESPONSE_PATH, or $VALIDATING_RESPONSE_PATH")
	cmd.Flags().StringArrayVar(&w.conversion, "conversion", nil, "a `file` that a hook wrote to $CONVERSION_RESPONSE_PATH")
}

// count is the number of files.
func (w writtenFiles) count() int {
	return len(w.patches) + len(w.metrics) + len(w.admission) + len(w.conversion)
}

// judge reads the files, and returns what there is to say about them, with paths as
// they were given.
func (w writtenFiles) judge(a *command.App) ([]finding.Finding, error) {
	var all []finding.Finding
	for _, kind := range []struct {
		flag  string
		names []string
		judge func(text []byte) []finding.Finding
	}{
		{"patches", w.patches, func(text []byte) []finding.Finding { _, f := output.ParsePatches(text); return f }},
		{"metrics", w.metrics, func(text []byte) []finding.Finding { _, f := output.ParseMetrics(text, "hook"); return f }},
		{"admission", w.admission, func(text []byte) []finding.Finding { _, f := output.ParseAdmission(text); return f }},
		{"conversion", w.conversion, func(text []byte) []finding.Finding { _, f := output.ParseConversion(text); return f }},
	} {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(kind.names))) {
			text, err := os.ReadFile(inDir(a, name))
			if err != nil {
				problem := err
				if at, is := errors.AsType[*fs.PathError](err); is {
					problem = at.Err
				}
				return nil, fault.Usage("name a file that a hook wrote; with --debug-keep-tmp-files the engine keeps them", "--%s %s: %v", kind.flag, name, problem)
			}
			for _, f := range kind.judge(text) {
				all = append(all, finding.Finding{File: filepath.ToSlash(name), Line: f.Line, Column: f.Column, Rule: f.Rule, Severity: f.Severity, Message: f.Message})
			}
		}
	}
	return all, nil
}
