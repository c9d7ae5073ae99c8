package kubectl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// target is an object that a call reads or changes.
type target struct {
	kind            kinds.Kind
	namespace, name string
	object          *unstructured.Unstructured // from a file or the server; nil when only its name is known
	source          string                     // the file
}

// title returns the name that kubectl prints, such as deployment.apps/web.
func (t target) title() string { return titleOf(t.kind) + "/" + t.name }

func titleOf(k kinds.Kind) string {
	if k.Group == "" {
		return strings.ToLower(k.Kind)
	}
	return strings.ToLower(k.Kind) + "." + k.Group
}

// wrap adds the file to an error.
func (t target) wrap(doing string, err error) error {
	if err == nil || t.source == "" {
		return err
	}
	return &fileError{doing, t.source, err}
}

// kindOf finds the kind that an argument names.
func (r *runner) kindOf(arg string) (kinds.Kind, error) {
	k, err := r.api.Table().FindArgument(arg)
	if err != nil {
		return k, fmt.Errorf("the server doesn't have a resource type %q", arg)
	}
	return k, nil
}

// namespaceOf returns the namespace of the call, or "" for a cluster-scoped kind.
func (r *runner) namespaceOf(k kinds.Kind) string {
	if !k.Namespaced {
		return ""
	}
	return r.currentNamespace()
}

// kindsOf returns the kinds of an argument such as pods,services or all.
func (r *runner) kindsOf(arg string) ([]kinds.Kind, error) {
	var all []kinds.Kind
	for name := range strings.SplitSeq(arg, ",") {
		if members := r.api.Table().Category(name); len(members) > 0 {
			all = append(all, members...)
			continue
		}
		k, err := r.kindOf(name)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

// targetsByName returns the objects of arguments such as TYPE NAME... or TYPE/NAME....
// The list is empty when the arguments name only types.
func (r *runner) targetsByName(args []string) ([]target, error) {
	var targets []target
	if len(args) > 0 && strings.Contains(args[0], "/") {
		for _, arg := range args {
			kind, name, ok := strings.Cut(arg, "/")
			if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
				return nil, errors.New("there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'")
			}
			k, err := r.kindOf(kind)
			if err != nil {
				return nil, err
			}
			targets = append(targets, target{kind: k, namespace: r.namespaceOf(k), name: name})
		}
		return targets, nil
	}
	if len(args) < 2 {
		return nil, nil
	}
	types, err := r.kindsOf(args[0])
	if err != nil {
		return nil, err
	}
	for _, k := range types {
		for _, name := range args[1:] {
			if strings.Contains(name, "/") {
				return nil, errors.New("there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'")
			}
			targets = append(targets, target{kind: k, namespace: r.namespaceOf(k), name: name})
		}
	}
	return targets, nil
}

// selectTargets returns the objects that the flags select.
func (r *runner) selectTargets(ctx context.Context, types []kinds.Kind) ([]target, error) {
	var targets []target
	for _, k := range types {
		in := r.namespaceOf(k)
		if r.allNamespaces {
			in = ""
		}
		list, err := r.api.List(ctx, k, in, metav1.ListOptions{LabelSelector: r.selector, FieldSelector: r.fieldSelector})
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			o := &list.Items[i]
			targets = append(targets, target{kind: k, namespace: o.GetNamespace(), name: o.GetName(), object: o})
		}
	}
	return targets, nil
}

// targets returns the objects that a call names: from files, by name, or by selector.
// Objects that are given by name may not exist.
func (r *runner) targets(ctx context.Context, args []string, selectable bool) ([]target, error) {
	if len(r.filenames) > 0 {
		if len(args) > 0 {
			return nil, fmt.Errorf("when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well")
		}
		return r.fromFiles()
	}
	if len(args) == 0 {
		return nil, errors.New("you must provide one or more resources by argument or filename")
	}
	targets, err := r.targetsByName(args)
	if err != nil || len(targets) > 0 {
		if err == nil && r.selector != "" {
			err = errors.New("name cannot be provided when a selector is specified")
		}
		return targets, err
	}
	if !selectable || r.selector == "" && r.fieldSelector == "" && !r.all {
		return nil, errors.New("resource(s) were provided, but no name was specified")
	}
	types, err := r.kindsOf(args[0])
	if err != nil {
		return nil, err
	}
	return r.selectTargets(ctx, types)
}
