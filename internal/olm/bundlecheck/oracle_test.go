package bundlecheck

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/api/pkg/validation/errors"
	"github.com/operon-dev/operon/internal/finding"
)

// compareWithLibrary returns how the findings about a bundle differ from what the library says
// about its folder. The library reads the folder itself, and each of its errors must be one
// finding of a known rule.
func compareWithLibrary(dir string, files map[string][]byte) error {
	var suites []string
	for _, s := range Suites {
		if s.validator != nil && s.Name != "multiarch" {
			suites = append(suites, s.Name)
		}
	}
	all := Check(files, Options{Suites: suites})
	x := read(files)
	b, err := manifests.GetBundleFromDir(filepath.Join(dir, "manifests"))
	if err != nil || b.CSV == nil {
		if x.complete() {
			return fmt.Errorf("only the library cannot read the bundle: %w", err)
		}
		return nil
	}
	if !x.complete() {
		return fmt.Errorf("only operon cannot read the bundle: %v", x.found)
	}
	x.annotationRules()
	b.Package, b.Channels, b.DefaultChannel = x.bundle.Package, x.bundle.Channels, x.bundle.DefaultChannel
	if len(b.CSV.Spec.Icon) == 0 {
		b.CSV.Spec.Icon = nil // the library panics
	}
	x.found = nil
	for _, result := range slices.Concat(validation.BundleValidator.Validate(b), validation.ClusterServiceVersionValidator.Validate(b.CSV)) {
		if err := translateAll(x, nil, result); err != nil {
			return err
		}
	}
	for i, crd := range b.V1CRDs {
		for _, result := range validation.CustomResourceDefinitionValidator.Validate(crd) {
			if err := translateAll(x, x.crds[x.bundle.V1CRDs[i]], result); err != nil {
				return err
			}
		}
	}
	for i, crd := range b.V1beta1CRDs {
		for _, result := range validation.CustomResourceDefinitionValidator.Validate(crd) {
			if err := translateAll(x, x.crds[x.bundle.V1beta1CRDs[i]], result); err != nil {
				return err
			}
		}
	}
	for _, s := range Suites {
		if !slices.Contains(suites, s.Name) {
			continue
		}
		for _, result := range s.validator.Validate(append(b.ObjectsToValidate(), map[string]string(nil))...) {
			if err := translateAll(x, nil, result); err != nil {
				return err
			}
		}
	}
	own := []string{
		ruleFolders.Name, ruleManifestDocuments.Name, ruleMetadataSyntax.Name, ruleStrictYAML.Name, ruleAnnotationsFile.Name, ruleAnnotation.Name, ruleDependency.Name, RuleObjectKind.Name, RuleObjectMetadata.Name, RuleScorecardConfig.Name,
	}
	all = slices.DeleteFunc(all, func(f finding.Finding) bool { return slices.Contains(own, f.Rule) })
	if diff := cmp.Diff(texts(distinct(x.found)), texts(all)); diff != "" {
		return fmt.Errorf("findings differ (-library +operon):\n%s", diff)
	}
	return nil
}

// texts returns findings in a fixed order.
func texts(all []finding.Finding) []string {
	var out []string
	for _, f := range all {
		out = append(out, f.Text(func(_, text string) string { return text }))
	}
	slices.Sort(out)
	return out
}

// translateAll translates the errors of a result.
func translateAll(x *input, about *document, result errors.ManifestResult) error {
	t := translation{x: x, about: about, seen: map[string]int{}}
	for _, e := range slices.Concat(result.Errors, result.Warnings) {
		before := len(x.found)
		t.report(e)
		added := x.found[before:]
		switch {
		case e.Type == errors.ErrorDeprecatedValidator && len(added) == 0:
		case strings.Contains(e.Detail, "ClusterServiceVersion.Spec.InstallStrategy") && len(added) == 0: // a permission names no version
		case len(added) != 1 && (len(added) == 0 || added[0].Rule != ruleRemovedAPI.Name):
			return fmt.Errorf("%q is %d findings: %v", e.Error(), len(added), added)
		case slices.ContainsFunc(added, func(f finding.Finding) bool { return f.Rule == ruleValidator.Name }):
			return fmt.Errorf("no rule for %q", e.Error())
		case slices.ContainsFunc(added, func(f finding.Finding) bool { return f.IsError() != (e.Level == errors.LevelError) }):
			return fmt.Errorf("the severity of %q differs: %v", e.Error(), added)
		}
	}
	return nil
}
