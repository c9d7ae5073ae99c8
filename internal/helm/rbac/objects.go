package rbac

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/roles"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Annotations of Helm.
const (
	hookAnnotation   = "helm.sh/hook"
	logsAnnotation   = "helm.sh/hook-output-log-policy"
	policyAnnotation = "helm.sh/resource-policy"
)

// found is an object that a template renders.
type found struct {
	file   string // of the template
	why    string // the set of values, such as "with a=true"; "" for the defaults
	object *unstructured.Unstructured
}

// collect keeps the objects in rendered files, and returns their number. Objects of one template
// that need the same permissions are kept once.
func (d *deriver) collect(rendered map[string]string, why string) (count int, err error) {
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		o := d.output(name, rendered[name], why)
		count += o.objects
		err = cmp.Or(err, o.err)
	}
	return count, err
}

// output is what a template renders.
type output struct {
	text    string
	objects int   // their number
	err     error // the reason why there are none
}

// output keeps the objects in an output, unless another set of values has rendered it before.
func (d *deriver) output(name, text, why string) output {
	for _, known := range d.outputs[name] {
		if known.text == text {
			return known
		}
	}
	o := output{text: text}
	objects, err := chart.Objects(map[string]string{name: text})
	o.err = err
	for _, object := range objects {
		d.each(object, func(object *unstructured.Unstructured) {
			o.objects++
			f := found{d.fileOf(name), why, object}
			if key := f.key(); !d.seen[key] {
				d.seen[key] = true
				d.found = append(d.found, f)
			}
		})
	}
	d.outputs[name] = append(d.outputs[name], o)
	return o
}

var kindName = lazyregexp.New(`^[A-Z][A-Za-z0-9]*$`)

// each calls a function for an object or, if that is a list, for its items.
func (d *deriver) each(o *unstructured.Unstructured, do func(*unstructured.Unstructured)) {
	if !o.IsList() {
		if kindName().MatchString(o.GetKind()) && o.GroupVersionKind().Version != "" {
			do(o) // others come from values that only fill a gap
		}
		return
	}
	_ = o.EachListItem(func(item runtime.Object) error {
		d.each(item.(*unstructured.Unstructured), do)
		return nil
	})
}

// fileOf returns the path of a template whose dependencies may have aliases.
func (d *deriver) fileOf(rendered string) string {
	for _, t := range d.templates {
		if slices.Contains(t.rendered, rendered) {
			return t.file
		}
	}
	return rendered
}

// key identifies objects that need the same permissions.
func (f found) key() string {
	o := f.object
	annotations := o.GetAnnotations()
	parts := []string{
		f.file, o.GroupVersionKind().GroupKind().String(), o.GetNamespace(),
		annotations[hookAnnotation], annotations[logsAnnotation], annotations[policyAnnotation],
	}
	if o.GroupVersionKind().Group == rbacv1.GroupName || kubeapi.IsCRD(o.GroupVersionKind()) {
		content, _ := json.Marshal(o.Object)
		parts = append(parts, string(content))
	}
	return strings.Join(parts, "\x00")
}

// what describes an object in the origin of a rule.
func (f found) what() string {
	text := f.object.GetKind()
	if hook := f.object.GetAnnotations()[hookAnnotation]; hook != "" {
		text += ", hook " + hook
	}
	return text
}

// with is the set of values for messages.
func (f found) with() string {
	if f.why == "" {
		return ""
	}
	return " " + f.why
}

// reason returns an origin for a rule.
func (f found) reason(text string) roles.Reason {
	return roles.Reason{File: f.file, Why: strings.TrimSpace(text + " " + f.why)}
}

// objectKinds returns the kinds of the objects that stay in a release.
func (d *deriver) objectKinds() []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	for _, f := range d.found {
		if f.object.GetAnnotations()[hookAnnotation] == "" {
			all = append(all, f.object.GroupVersionKind())
		}
	}
	slices.SortFunc(all, func(a, b schema.GroupVersionKind) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Version, b.Version), strings.Compare(a.Group, b.Group))
	})
	return slices.Compact(all)
}
