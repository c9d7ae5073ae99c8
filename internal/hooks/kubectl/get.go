package kubectl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// get prints objects.
func (r *runner) get(ctx context.Context, args []string) error {
	if len(args) == 0 && len(r.filenames) == 0 {
		r.warnf("You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of supported resources.\n\n")
		return errors.New("Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that resource (e.g. kubectl explain pods).\nSee 'kubectl get -h' for help and examples") //nolint:staticcheck // kubectl's words
	}
	targets, one, err := r.targetsOfGet(ctx, args)
	if err != nil {
		return err
	}
	var found []target
	var errs errorList
	for _, t := range targets {
		if t.object == nil || t.source != "" {
			t.object, err = r.api.Get(ctx, t.kind, t.namespace, t.name)
			if err != nil {
				if !r.ignoreMissing || !apierrors.IsNotFound(err) {
					errs.add(err)
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
	case len(found) == 0 && len(errs) > 0, len(found) == 0 && one && r.ignoreMissing:
		return errs.err()
	case one && len(found) == 1 && len(errs) == 0:
		err = r.print(found, found[0].object)
	default:
		err = r.print(found, list(found))
	}
	errs.add(err)
	return errs.err()
}

// targetsOfGet returns the objects to get. one reports whether the call names a single
// object.
func (r *runner) targetsOfGet(ctx context.Context, args []string) (targets []target, one bool, err error) {
	if len(r.filenames) > 0 {
		targets, err = r.fromFiles()
		return targets, len(targets) == 1, err
	}
	targets, err = r.targetsByName(args)
	if err != nil || len(targets) > 0 {
		if r.allNamespaces {
			err = errors.New("a resource cannot be retrieved by name across all namespaces")
		}
		return targets, len(targets) == 1, err
	}
	types, err := r.kindsOf(args[0])
	if err != nil {
		return nil, false, err
	}
	targets, err = r.selectTargets(ctx, types)
	if err == nil && len(targets) == 0 && !r.ignoreMissing && (r.output == "" || r.output == "wide") {
		namespaced := slices.ContainsFunc(types, isNamespaced)
		if r.allNamespaces || !namespaced {
			r.warnf("No resources found\n")
		} else {
			r.warnf("No resources found in %s namespace.\n", r.currentNamespace())
		}
	}
	return targets, false, err
}

// list returns objects as kubectl prints a list of them.
func list(found []target) *unstructured.Unstructured {
	items := []any{}
	for _, t := range found {
		items = append(items, t.object.Object)
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "List", "items": items,
		"metadata": map[string]any{"resourceVersion": ""}}}
}

// sort sorts objects by the field of --sort-by.
func (r *runner) sort(found []target) error {
	if r.sortBy == "" {
		return nil
	}
	template, err := parsePath(r.sortBy)
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
	slices.SortStableFunc(found, func(a, b target) int { return compareValues(keys[a.object], keys[b.object]) })
	return nil
}

// print prints objects in the output format of the call. whole holds all of them.
func (r *runner) print(found []target, whole *unstructured.Unstructured) error {
	form, argument, _ := strings.Cut(r.output, "=")
	switch form {
	case "":
		return r.printTables(found)
	case "wide":
		return r.printTables(found)
	case "name":
		for _, t := range found {
			r.printf("%s\n", t.title())
		}
		return nil
	case "custom-columns":
		return r.printCustomColumns(argument, found)
	case "json", "yaml", "jsonpath", "go-template", "template", "jsonpath-as-json":
		return r.printObject(whole)
	}
	return fmt.Errorf("unable to match a printer suitable for the output format %q, allowed formats are: custom-columns,go-template,json,jsonpath,jsonpath-as-json,name,template,wide,yaml (no other is available in hook tests)", form)
}
