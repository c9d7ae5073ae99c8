package kubectl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
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
	k, err := r.api.Table().Argument(arg)
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

// fromFiles returns the objects in the files of -f.
func (r *runner) fromFiles() ([]target, error) {
	var targets []target
	for _, name := range r.filenames {
		source, content, err := r.read(name)
		if err != nil {
			return nil, err
		}
		found, err := r.decode(source, content)
		if err != nil {
			return nil, err
		}
		targets = append(targets, found...)
	}
	return targets, nil
}

// read returns the content of a file, a folder or stdin, and its name in messages.
func (r *runner) read(name string) (source string, content []byte, err error) {
	if name == "-" || name == "/dev/stdin" {
		if r.Stdin == nil {
			return "STDIN", nil, nil
		}
		content, err = io.ReadAll(r.Stdin)
		return "STDIN", content, err
	}
	if strings.Contains(name, "://") {
		return name, nil, fmt.Errorf("kubectl reads no URLs in hook tests: %s", name)
	}
	if content, handed := r.files[name]; handed {
		return name, content, nil
	}
	path := r.path(name)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return name, nil, fmt.Errorf("the path %q does not exist", name)
	case !info.IsDir():
		content, err = os.ReadFile(path)
		return name, content, err
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return name, nil, err
	}
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(e.Name())) {
			continue
		}
		one, err := os.ReadFile(filepath.Join(path, e.Name()))
		if err != nil {
			return name, nil, err
		}
		content = append(append(content, "\n---\n"...), one...)
	}
	return name, content, nil
}

// readFile reads a file or stdin.
func (r *runner) readFile(name string) ([]byte, error) {
	if content, handed := r.files[name]; handed {
		return content, nil
	}
	if name == "/dev/stdin" || name == "-" {
		return io.ReadAll(r.Stdin)
	}
	return os.ReadFile(r.path(name))
}

func (r *runner) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.Dir, name)
}

// decode reads the objects of a file. A List becomes its items.
func (r *runner) decode(source string, content []byte) ([]target, error) {
	var targets []target
	for dec := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		o := &unstructured.Unstructured{}
		err := dec.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return targets, nil
		}
		if err != nil {
			return nil, fmt.Errorf("error parsing %s: %w", source, err)
		}
		if len(o.Object) == 0 {
			continue
		}
		all := []*unstructured.Unstructured{o}
		if o.IsList() {
			if all, err = items(o); err != nil {
				return nil, fmt.Errorf("unable to decode %q: %w", source, err)
			}
		}
		for _, one := range all {
			t, err := r.fileTarget(source, one)
			if err != nil {
				return nil, err
			}
			targets = append(targets, t)
		}
	}
}

func items(list *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	err := list.EachListItem(func(o runtime.Object) error {
		all = append(all, o.(*unstructured.Unstructured))
		return nil
	})
	return all, err
}

// fileTarget returns the target for an object from a file.
func (r *runner) fileTarget(source string, o *unstructured.Unstructured) (target, error) {
	gvk := o.GroupVersionKind()
	for _, name := range []string{"apiVersion", "kind"} {
		if text, _ := o.Object[name].(string); text == "" && slices.Contains([]string{"create", "apply", "replace"}, r.command) {
			return target{}, fmt.Errorf("error validating %q: error validating data: %s not set; if you choose to ignore these errors, turn validation off with --validate=false", source, name)
		}
	}
	switch {
	case gvk.Kind == "":
		return target{}, fmt.Errorf("unable to decode %q: Object 'Kind' is missing in '%s'", source, compact(o))
	case gvk.Version == "":
		return target{}, fmt.Errorf("unable to decode %q: Object 'apiVersion' is missing in '%s'", source, compact(o))
	}
	k, err := r.api.Table().FindObject(gvk)
	if err != nil {
		return target{}, fmt.Errorf("resource mapping not found for name: %q namespace: %q from %q: no matches for kind %q in version %q\nensure CRDs are installed first",
			o.GetName(), o.GetNamespace(), source, gvk.Kind, o.GetAPIVersion())
	}
	if k.Namespaced {
		switch in := o.GetNamespace(); {
		case in == "":
			o.SetNamespace(r.currentNamespace())
		case r.namespace != "" && in != r.namespace:
			return target{}, fmt.Errorf("the namespace from the provided object %q does not match the namespace %q. You must pass '--namespace=%s' to perform this operation.", in, r.namespace, in) //nolint:staticcheck // kubectl's words
		}
	} else {
		o.SetNamespace("")
	}
	return target{kind: k, namespace: o.GetNamespace(), name: o.GetName(), object: o, source: source}, nil
}
