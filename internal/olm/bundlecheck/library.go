package bundlecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/api/pkg/validation/errors"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/lazyregexp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// defaults runs the validators for all bundles.
func (x *input) defaults() {
	x.run(ruleBundle, validation.BundleValidator, x.csv, x.bundle)
	x.run(ruleCSV, validation.ClusterServiceVersionValidator, x.csv, x.bundle.CSV)
	for _, crd := range x.bundle.V1beta1CRDs { // crdRules has those of v1, with their schemas
		x.run(ruleCRD, validation.CustomResourceDefinitionValidator, x.crds[crd], crd.DeepCopy())
	}
}

// crdRules reports why API servers refuse a CRD.
func (x *input) crdRules(crd *apiextensionsv1.CustomResourceDefinition) {
	for _, err := range crdschema.Refused(*crd) {
		path, all := strings.CutPrefix(err.Field, "spec.validation.")
		at := path
		if all { // versions have this schema
			at = "spec.versions[0].schema." + path
		}
		x.report(ruleCRD, x.crds[crd].at(fieldPath(at)...), "%s: %s", path, crdschema.Reason(err))
	}
}

// run runs a validator of the library, and reports what it says about a document.
func (x *input) run(r Rule, v interfaces.Validator, about *document, objects ...any) {
	defer func() {
		if cause := recover(); cause != nil {
			x.report(ruleValidator, place{file: about.file}, "the validator %s cannot read the bundle: %v", r.Name, cause)
		}
	}()
	defer x.replaceCSV()()
	for _, result := range v.Validate(objects...) {
		for _, e := range slices.Concat(result.Errors, result.Warnings) {
			text := csvPrefix().ReplaceAllString(e.Detail, "")
			if e.Type == errors.ErrorDeprecatedValidator || superseded().MatchString(text) { // the list of suites says it
				continue
			}
			at := place{file: about.file}
			if path := fieldPath(e.Field); len(path) > 0 && about.value(path[0]) != nil { // else it is a path in Go
				at = about.at(path...)
			}
			severity := finding.Warning
			if e.Level == errors.LevelError {
				severity = finding.Error
			}
			x.add(r, severity, at, "%s", x.textOf(e))
		}
	}
}

// replaceCSV gives the library another ClusterServiceVersion to look for removed APIs. It has no permissions: these
// name no version, and the library would warn of all that are for events or PodDisruptionBudgets. Its values
// have the types of the API: the library would print on stdout that it cannot convert a number to a text.
func (x *input) replaceCSV() (restore func()) {
	all := x.bundle.Objects
	csv := x.csv.DeepCopy()
	converter := runtime.DefaultUnstructuredConverter
	if converter.FromUnstructured(csv.Object, &v1alpha1.ClusterServiceVersion{}) != nil {
		if object, err := converter.ToUnstructured(x.bundle.CSV); err == nil {
			csv.Object = object
		}
	}
	for _, list := range []string{"permissions", "clusterPermissions"} {
		unstructured.RemoveNestedField(csv.Object, "spec", "install", "spec", list)
	}
	x.bundle.Objects = slices.DeleteFunc(slices.Clone(all), func(u *unstructured.Unstructured) bool { return u == x.csv.Unstructured })
	x.bundle.Objects = append(x.bundle.Objects, csv)
	return func() { x.bundle.Objects = all }
}

// textOf returns the text of a finding of the library, with the field or the value that it is about.
func (x *input) textOf(e errors.Error) string {
	text := csvPrefix().ReplaceAllString(e.Detail, "")
	switch e.BadValue.(type) {
	case string, error, fmt.Stringer:
		if value := fmt.Sprint(e.BadValue); value != "" && value != x.bundle.Name && !strings.Contains(text, value) {
			text = strings.TrimPrefix(text+": "+value, ": ")
		}
	}
	if e.Field != "" && !strings.Contains(text, e.Field) {
		text = e.Field + ": " + text
	}
	return shortened(ordered(text))
}

// superseded are findings for which operon has rules that know the place.
var superseded = lazyregexp.New(`^(owned CRD .* not found|only AllNamespaces InstallModeType|metadata\.name )`)

// csvPrefix is the name of the ClusterServiceVersion that the library puts before a text.
var csvPrefix = lazyregexp.New(`^\([^)]*\) `)

// Lists of names, and of kinds with names, which the library prints in random order.
var (
	names = lazyregexp.New(`"[^"]*"( "[^"]*")+`)
	kinds = lazyregexp.New(`\w+: \(\[[^]]*\]\)(,\w+: \(\[[^]]*\]\))+`)
)

// ordered returns a text with sorted lists.
func ordered(text string) string {
	sorted := func(separator string) func(string) string {
		return func(list string) string {
			items := strings.Split(list, separator)
			slices.Sort(items)
			return strings.Join(items, separator)
		}
	}
	return kinds().ReplaceAllStringFunc(names().ReplaceAllStringFunc(text, sorted(" ")), sorted(","))
}

// shortened returns the first line of a text, up to a length that fits into reports.
func shortened(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); len(runes) > 300 {
		return string(runes[:300]) + "..."
	}
	return text
}
