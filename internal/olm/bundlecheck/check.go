// Package bundlecheck validates bundles: by the rules of operator-sdk's "bundle validate" and
// its suites, by the rules of OLM v1, and against the previous version of the bundle.
//
// The library of the Operator Framework (github.com/operator-framework/api) validates
// ClusterServiceVersions and CRDs: each of its validators is a rule, whose findings have the text of
// the library. The rules for the format of bundles are operator-registry's, whose packages
// import clients of container engines, so they are written here (docs/decisions/bundle-format.md). Package
// crdupgrade has the rules for upgrades of CRDs.
package bundlecheck

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operon-dev/operon/internal/finding"
)

// Options are what to validate besides the rules for all bundles.
type Options struct {
	Suites   []string          // names of Suites
	Values   map[string]string // settings of suites, such as k8s-version
	Previous Previous          // the bundle that is upgraded to this one; may be empty
}

// Check validates a bundle. Its files are by path, with slashes. The files of findings are
// relative to the bundle as well.
func Check(files map[string][]byte, o Options) []finding.Finding {
	x := readFormat(files)
	x.scorecardRules()
	if x.complete() {
		x.defaults()
		for _, s := range Suites {
			if slices.Contains(o.Suites, s.Name) {
				s.check(x, o.Values)
			}
		}
		x.upgradeRules(o.Previous)
	}
	return distinct(x.found)
}

// Refused returns the errors for which the API server refuses objects of a bundle, opm cannot read it, or OLM does not
// install it. What the library finds besides is for Check, such as CRDs that older API servers took. Hidden files do not
// count, as images lack them; neither do annotations that only the image has, dependencies of unknown types, which opm
// keeps, and the namespaces of objects, which OLM replaces.
func Refused(files map[string][]byte) []finding.Finding {
	visible := maps.Clone(files)
	maps.DeleteFunc(visible, func(name string, _ []byte) bool { return strings.HasPrefix(path.Base(name), ".") })
	return slices.DeleteFunc(finding.Errors(distinct(readFormat(visible).found)), func(f finding.Finding) bool {
		namespace := f.Rule == RuleObjectMetadata.Name && strings.HasPrefix(f.Message, "metadata.namespace: ")
		return f.Rule == ruleAnnotation.Name || f.Rule == ruleDependencyType.Name || namespace
	})
}

// readFormat reads a bundle, and validates its format.
func readFormat(files map[string][]byte) *input {
	x := read(files)
	x.annotationRules()
	x.dependencyRules()
	x.propertyRules()
	if x.complete() {
		x.schemaRules()
		x.iconRule()
		x.sizeRules()
		x.requirementRules()
		x.webhookRules()
		x.objectRules()
		for _, crd := range x.bundle.V1CRDs {
			x.crdRules(crd)
		}
	}
	return x
}

// distinct removes findings that several validators report, in an order that does not depend on the
// library, which returns its errors in any order. Of an error and a warning it keeps the error.
func distinct(all []finding.Finding) []finding.Finding {
	slices.SortStableFunc(all, func(a, b finding.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	seen := map[finding.Finding]bool{}
	all = slices.DeleteFunc(all, func(f finding.Finding) bool {
		f.Severity, f.Rule = finding.Error, ""
		known := seen[f]
		seen[f] = true
		return known
	})
	slices.SortFunc(all, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return finding.Sort(all)
}

// input is a bundle that is validated.
type input struct {
	files       map[string][]byte
	manifests   []*document // one for each file
	csv         *document   // one of the manifests; nil if there is none, or more than one
	annotations *document   // nil if there is none
	metadata    []*document // other files in metadata

	dependencies []located
	properties   []located

	bundle *manifests.Bundle
	crds   map[any]*document // of the CRDs in the bundle
	found  []finding.Finding
}

// report adds a finding at a place.
func (x *input) report(r Rule, at place, format string, args ...any) {
	x.add(r, r.Severity, at, format, args...)
}

// add is report with another severity.
func (x *input) add(r Rule, severity finding.Severity, at place, format string, args ...any) {
	file, line, column := at.position()
	f := r.At(file, line, column, format, args...)
	f.Severity, f.Fix = severity, r.Fix
	x.found = append(x.found, f)
}
