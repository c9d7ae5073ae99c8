package kubectl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// get prints objects.
func (r *run) get(args []string) error {
	if len(args) == 0 && len(r.filenames) == 0 {
		r.warnf("You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of supported resources.\n\n")
		return errors.New("Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that resource (e.g. kubectl explain pods).\nSee 'kubectl get -h' for help and examples") //nolint:staticcheck // kubectl's words
	}
	targets, one, err := r.toGet(args)
	if err != nil {
		return err
	}
	var found []target
	var faults problems
	for _, t := range targets {
		if t.object == nil || t.source != "" {
			t.object, err = r.api.Get(r, t.kind, t.namespace, t.name)
			if err != nil {
				if !r.ignoreMissing || !apierrors.IsNotFound(err) {
					faults.add(err)
				}
				continue
			}
		}
		found = append(found, t)
	}
	if err := r.sort(found); err != nil {
		return err
	}
	switch {
	case len(found) == 0 && len(faults) > 0, len(found) == 0 && one && r.ignoreMissing:
		return faults.err()
	case one && len(found) == 1 && len(faults) == 0:
		err = r.print(found, found[0].object)
	default:
		err = r.print(found, list(found))
	}
	faults.add(err)
	return faults.err()
}

// toGet are the objects to get, and whether one is asked for by its name.
func (r *run) toGet(args []string) (targets []target, one bool, err error) {
	if len(r.filenames) > 0 {
		targets, err = r.fromFiles()
		return targets, len(targets) == 1, err
	}
	targets, err = r.named(args)
	if err != nil || len(targets) > 0 {
		if r.everywhere {
			err = errors.New("a resource cannot be retrieved by name across all namespaces")
		}
		return targets, len(targets) == 1, err
	}
	types, err := r.typesOf(args[0])
	if err != nil {
		return nil, false, err
	}
	targets, err = r.selected(types)
	if err == nil && len(targets) == 0 && !r.ignoreMissing && (r.output == "" || r.output == "wide") {
		namespaced := slices.ContainsFunc(types, isNamespaced)
		if r.everywhere || !namespaced {
			r.warnf("No resources found\n")
		} else {
			r.warnf("No resources found in %s namespace.\n", r.inNamespace())
		}
	}
	return targets, false, err
}

// list is a list of objects as kubectl prints it.
func list(found []target) *unstructured.Unstructured {
	items := []any{}
	for _, t := range found {
		items = append(items, t.object.Object)
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "List", "items": items,
		"metadata": map[string]any{"resourceVersion": ""}}}
}

// sort sorts by a field, as numbers when all are.
func (r *run) sort(found []target) error {
	if r.sortBy == "" {
		return nil
	}
	template, err := relaxed(r.sortBy)
	if err != nil {
		return err
	}
	keys := map[*unstructured.Unstructured]string{}
	for _, t := range found {
		key, err := evaluate(template, t.object.Object)
		if err != nil {
			return err
		}
		keys[t.object] = key
	}
	slices.SortStableFunc(found, func(a, b target) int { return compare(keys[a.object], keys[b.object]) })
	return nil
}

// print prints objects in the form that is asked for; whole is all of them as one.
func (r *run) print(found []target, whole *unstructured.Unstructured) error {
	form, argument, _ := strings.Cut(r.output, "=")
	switch form {
	case "":
		return r.table(found)
	case "wide":
		return r.table(found)
	case "name":
		for _, t := range found {
			r.printf("%s\n", t.title())
		}
		return nil
	case "custom-columns":
		return r.columns(argument, found)
	case "json", "yaml", "jsonpath", "go-template", "template", "jsonpath-as-json":
		return r.printObject(whole)
	}
	return fmt.Errorf("unable to match a printer suitable for the output format %q, allowed formats are: custom-columns,go-template,json,jsonpath,jsonpath-as-json,name,template,wide,yaml (operon's kubectl knows no other)", form)
}
