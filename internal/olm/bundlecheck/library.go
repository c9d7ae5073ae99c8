package bundlecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/api/pkg/validation/errors"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// defaults runs the validators for all bundles.
func (x *input) defaults() {
	x.run("bundle", validation.BundleValidator, nil, x.bundle)
	x.run("csv", validation.ClusterServiceVersionValidator, nil, x.bundle.CSV)
	for _, crd := range x.bundle.V1CRDs {
		x.run("crd", validation.CustomResourceDefinitionValidator, x.crds[crd], crd.DeepCopy())
	}
	for _, crd := range x.bundle.V1beta1CRDs {
		x.run("crd", validation.CustomResourceDefinitionValidator, x.crds[crd], crd.DeepCopy())
	}
}

// object returns the document with an object, or nil.
func (x *input) object(kind, name string) *document {
	i := slices.IndexFunc(x.manifests, func(d *document) bool { return d.GetKind() == kind && d.GetName() == name })
	if i < 0 {
		return nil
	}
	return x.manifests[i]
}

// run runs a validator of the library, and reports its findings. Those with a field are about
// the document, or else about the ClusterServiceVersion.
func (x *input) run(name string, v interfaces.Validator, about *document, objects ...any) {
	defer func() {
		if r := recover(); r != nil {
			x.report(ruleValidator, x.csv.at(), "the validator %s cannot read the bundle: %v", name, r)
		}
	}()
	defer x.replaceUnconvertible()()
	t := translation{x: x, about: about, seen: map[string]int{}}
	for _, result := range v.Validate(objects...) {
		for _, e := range slices.Concat(result.Errors, result.Warnings) {
			t.report(e)
		}
	}
}

// replaceUnconvertible replaces a ClusterServiceVersion that the library cannot convert, such as one with a
// number for a text: it would print that on stdout.
func (x *input) replaceUnconvertible() (restore func()) {
	all := x.bundle.Objects
	converter := runtime.DefaultUnstructuredConverter
	if converter.FromUnstructured(x.csv.Object, &v1alpha1.ClusterServiceVersion{}) != nil {
		x.bundle.Objects = slices.DeleteFunc(slices.Clone(all), func(u *unstructured.Unstructured) bool { return u == x.csv.Unstructured })
		if object, err := converter.ToUnstructured(x.bundle.CSV); err == nil {
			x.bundle.Objects = append(x.bundle.Objects, &unstructured.Unstructured{Object: object})
		}
	}
	return func() { x.bundle.Objects = all }
}

// translation turns the library's findings into ours.
type translation struct {
	x     *input
	about *document
	seen  map[string]int // how often each text occurred
}

// report reports a finding of the library. Texts that no rule knows are findings as they are.
func (t *translation) report(e errors.Error) {
	severity := finding.Warning
	if e.Level == errors.LevelError {
		severity = finding.Error
	}
	if t.about != nil {
		t.x.add(ruleCRDInvalid, severity, t.about.at(fieldPath(e.Field)...), "%s", shortened(e.Detail))
		return
	}
	if e.Type == errors.ErrorFieldMissing {
		path := jsonPath(e.Field)
		t.x.add(ruleCSVField, severity, t.x.csv.at(path...), "%s is missing", pathText(path))
		return
	}
	text := csvPrefix().ReplaceAllString(e.Detail, "")
	if e.BadValue != nil {
		text += fmt.Sprintf("\n%v", e.BadValue)
	}
	occurrence := t.seen[text]
	t.seen[text]++
	for _, m := range messages() {
		match := m.pattern().FindStringSubmatchIndex(text)
		if match == nil {
			continue
		}
		var groups []string
		for i := 0; i < len(match); i += 2 {
			groups = append(groups, text[max(0, match[i]):max(0, match[i+1])])
		}
		places := m.places(t.x, groups)
		if len(places) == 0 && m.rule.Name != "" && !m.each {
			places = subjects(t.x.csv.at())
		}
		if !m.each && len(places) > 0 {
			places = places[min(occurrence, len(places)-1):][:1]
		}
		for _, p := range places {
			message := string(m.pattern().ExpandString(nil, m.text, text, match))
			t.x.add(m.rule, severity, p.place, "%s", shortened(strings.Replace(message, "{}", p.what, 1)))
		}
		return
	}
	t.x.add(ruleValidator, severity, t.x.csv.at(fieldPath(e.Field)...), "%s", shortened(e.Detail))
}

// csvPrefix is the name of the ClusterServiceVersion that the library puts before a text.
var csvPrefix = lazyregexp.New(`^\([^)]*\) `)

// shortened returns the first line of a text, up to a length that fits into reports.
func shortened(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); len(runes) > 300 {
		return string(runes[:300]) + "..."
	}
	return text
}
