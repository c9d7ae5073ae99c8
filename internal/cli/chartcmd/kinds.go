package chartcmd

import (
	"slices"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/project"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The rules of the kinds in a project.
var (
	ruleWatchCRD  = finding.Rule{Name: "watch-crd", Severity: finding.Error, Summary: "A CRD serves the kind of each watch"}
	ruleUnwatched = finding.Rule{Name: "watch-missing", Summary: "watches.yaml has each kind of PROJECT"}
)

// checkKinds compares the watches of a project with the kinds that its CRDs serve, and with those in PROJECT.
// A folder without PROJECT may have its CRDs elsewhere.
func (s *subjects) checkKinds() (found []finding.Finding) {
	if s.config.Version == "" || finding.HasErrors(s.findings) {
		return nil
	}
	for _, one := range s.charts {
		w := one.watch
		if _, err := one.options.Kinds.FindObject(schema.GroupVersionKind{Group: w.Group, Version: w.Version, Kind: w.Kind}); err != nil {
			f := ruleWatchCRD.At(watches.File, w.Line, 0, "no CRD serves %s, and the operator does not start without it", w.GVK())
			f.Fix = "correct the entry, add the CRD to " + crdBases + ", or name its file with --crd"
			found = append(found, f)
		}
	}
	for _, r := range s.config.Resources {
		watched := slices.ContainsFunc(s.charts, func(one subject) bool {
			return one.watch.Group == r.QualifiedGroup() && one.watch.Kind == r.Kind
		})
		if r.API != nil && !watched {
			found = append(found, ruleUnwatched.At(watches.File, 0, 0, "there is no entry for the kind %s of %s, so nothing happens to its objects", r.Kind, project.File))
		}
	}
	return found
}
