package hookproject

import (
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/input"
)

// Output has the paths of files that hooks wrote, as the user gave them.
type Output struct {
	Patches    []string // $KUBERNETES_PATCH_PATH
	Metrics    []string // $METRICS_PATH
	Admission  []string // $ADMISSION_RESPONSE_PATH or $VALIDATING_RESPONSE_PATH
	Conversion []string // $CONVERSION_RESPONSE_PATH
}

// Count returns the number of files.
func (o Output) Count() int {
	return len(o.Patches) + len(o.Metrics) + len(o.Admission) + len(o.Conversion)
}

// Validate reads the files and returns the findings about them. Findings have the paths
// that the user gave. Errors name the command-line flag of the file.
func (o Output) Validate(workDir string) ([]finding.Finding, error) {
	var all []finding.Finding
	for _, kind := range []struct {
		flag     string
		names    []string
		validate func(text []byte) []finding.Finding
	}{
		{"patches", o.Patches, func(text []byte) []finding.Finding { _, f := output.ParsePatches(text); return f }},
		{"metrics", o.Metrics, func(text []byte) []finding.Finding { _, f := output.ParseMetrics(text, "hook"); return f }},
		{"admission", o.Admission, func(text []byte) []finding.Finding { _, f := output.ParseAdmission(text); return f }},
		{"conversion", o.Conversion, func(text []byte) []finding.Finding { _, f := output.ParseConversion(text); return f }},
	} {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(kind.names))) {
			text, err := input.ReadFile(Abs(workDir, name), input.Text)
			if err != nil {
				return nil, fault.Usage("name a file that a hook wrote; the engine keeps them with --debug-keep-tmp-files", "--%s %s: %v", kind.flag, name, fault.Reason(err))
			}
			for _, f := range kind.validate(text) {
				f.File = filepath.ToSlash(name)
				all = append(all, f)
			}
		}
	}
	return all, nil
}
