package rbac

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"mvdan.cc/sh/v3/syntax"
)

// kubectlCall is a kubectl command line in a program.
type kubectlCall struct {
	*program
	request
	invocation
}

// target is what a call is about.
type target struct {
	kinds.Kind
	name string // "" when the call searches objects
}

// kubectl allows what a kubectl command line does.
func (p *program) kubectl(c invocation) {
	p.kubectls++
	k := &kubectlCall{p, parseKubectl(c.args), c}
	if k.problem == "" && p.choosesConfig(c) {
		k.problem = "with KUBECONFIG another account sends the requests"
	}
	command, known := kubectlCommands[k.command]
	switch {
	case k.problem != "":
		k.unknown("%s", k.problem)
	case k.has("help") || k.has("local") || k.onClient() && isOneOf(k.command, "create", "run") && !k.has("from"):
	case k.request.program == "oc" && k.command == "expose":
		k.unknown("it also creates routes")
	case k.has("raw"):
		k.unknown("it sends the request of --raw, which urls= or resources= of a marker declares")
	case !known || len(k.files) > 0 && command.file == nil:
		k.unknown("its requests are unknown")
	case len(k.files) > 0:
		k.onFiles(command.file)
	case command.derive != nil:
		command.derive(k)
	case command.named != nil:
		k.onTargets(command)
	case command.file != nil:
		k.unknown("it names no file")
	}
}

// choosesConfig reports whether the script sets KUBECONFIG.
func (p *program) choosesConfig(c invocation) bool {
	const variable = "KUBECONFIG"
	return slices.ContainsFunc(p.variables[variable], func(a assignment) bool { return len(a.words) > 0 }) ||
		c.node != nil && (slices.ContainsFunc(c.node.Assigns, func(a *syntax.Assign) bool { return a.Name.Value == variable }) ||
			slices.ContainsFunc(c.node.Args, func(w *syntax.Word) bool { // env KUBECONFIG=...
				first, is := w.Parts[0].(*syntax.Lit)
				return is && strings.HasPrefix(first.Value, variable+"=")
			}))
}

func (k *kubectlCall) unknown(format string, args ...any) {
	k.reportUnknown(k.at(), k.in, k.title()+": "+format, args...)
}

// onTargets handles commands with kinds and names among their words.
func (k *kubectlCall) onTargets(command kubectlCommand) {
	targets, ok := k.targets(k.words)
	if !ok {
		return
	}
	for _, t := range targets {
		verbs := command.named
		if t.name == "" {
			verbs = command.listed
		}
		switch {
		case k.command == "get" && k.has("watch", "watch-only"):
			verbs = append([]string{"watch"}, verbs...)
		case k.command == "label" && k.has("list"):
			verbs = verbGet
		case k.waits():
			verbs = append([]string{"get", "list", "watch"}, verbs...)
		}
		k.allowTarget(t, k.options["subresource"], verbs...)
		if k.command == "describe" {
			k.allowResource("events", "", "", "list")
		}
	}
	if k.command == "set env" {
		k.readFrom()
	}
}

// allowTarget allows verbs on a target in the namespace of the call.
func (k *kubectlCall) allowTarget(t target, subresource string, verbs ...string) {
	in := where{namespace: k.options["namespace"]}
	if k.allNamespaces || !isKnown(in.namespace) {
		in = everywhere
	}
	if !isKnown(subresource) {
		k.unknown("the subresource is known only at run time")
		return
	}
	var names []string
	if t.name != "" && isKnown(t.name) {
		names = []string{t.name}
	} else if name := NameSelected(k.options["field-selector"]); name != "" && isKnown(name) {
		names = []string{name}
	}
	if k.onClient() {
		verbs = slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return !isOneOf(v, "get", "list", "watch") })
	}
	k.allow(k.at(), in, t.Kind, subresource, names, k.title(), verbs...)
	k.reportEscalation(k.at(), k.in.Text, t.Kind, k.title(), verbs...)
}

// allowResource is allowTarget for a kind of Kubernetes.
func (k *kubectlCall) allowResource(resource, subresource, name string, verbs ...string) {
	if kind, err := k.Kinds.Argument(resource); err == nil {
		k.allowTarget(target{kind, name}, subresource, verbs...)
	}
}

// targets parses kinds and names: TYPE NAME..., TYPE/NAME... or TYPE,TYPE.
func (k *kubectlCall) targets(words []string) (all []target, ok bool) {
	if len(words) == 0 {
		k.unknown("it names no kind")
		return nil, false
	}
	var names []string
	pairs := strings.Contains(words[0], "/")
	if !pairs {
		names, words = words[1:], words[:1]
	}
	names = slices.DeleteFunc(slices.Clone(names), k.isChange)
	if len(names) == 0 || k.has("all") {
		names = []string{""}
	}
	for _, w := range words {
		kind, name, pair := strings.Cut(w, "/")
		switch {
		case pair:
			names = []string{name}
		case pairs && k.isChange(w):
			continue
		case pairs:
			k.unknown("an argument is known only at run time: %s", shown(w))
			return nil, false
		}
		found, ok := k.kindsOf(kind)
		if !ok {
			return nil, false
		}
		for _, f := range found {
			for _, name := range names {
				all = append(all, target{f, name})
			}
		}
	}
	return all, true
}

// kindsOf parses a list of kinds and categories.
func (k *kubectlCall) kindsOf(list string) (all []kinds.Kind, ok bool) {
	if !isKnown(list) {
		k.unknown("the kind is known only at run time")
		return nil, false
	}
	for name := range strings.SplitSeq(list, ",") {
		kind, err := k.Kinds.Argument(name)
		category := k.Kinds.Category(name)
		switch {
		case err == nil:
			all = append(all, kind)
		case len(category) > 0:
			all = append(all, category...)
		default:
			k.unknownKind(k.at(), k.title(), err)
			return nil, false
		}
	}
	return all, true
}

// onFiles handles commands with objects from files. Of these the standard input may be
// known.
func (k *kubectlCall) onFiles(verbs []string) {
	switch {
	case k.command == "apply" && k.has("prune"):
		k.unknown("--prune deletes objects of many kinds")
		return
	case k.command == "apply" && k.has("server-side"):
		verbs = []string{"create", "patch"}
	case k.command == "apply" && k.has("force"):
		verbs = []string{"create", "delete", "get", "list", "patch", "watch"} // it replaces what cannot be changed
	case k.command == "replace" && k.has("force"):
		verbs = []string{"create", "delete", "get"}
	case k.waits():
		verbs = []string{"delete", "get", "list", "watch"}
	}
	for _, file := range k.files {
		if file != "-" && file != "/dev/stdin" {
			k.unknown("the objects are in a file: %s", shown(file))
			return
		}
	}
	texts, known := k.input(k.invocation)
	if !known {
		k.unknown("the objects are known only at run time")
	}
	for _, text := range texts {
		docs, err := documents(text)
		if err != nil {
			err = errors.New("the objects are known only at run time")
		}
		for _, doc := range docs {
			if err == nil {
				err = k.onObject(doc, verbs)
			}
		}
		if err != nil {
			k.unknown("%v", err)
			return
		}
	}
}

// onObject allows verbs on an object, or on those in a list.
func (k *kubectlCall) onObject(doc map[string]any, verbs []string) error {
	apiVersion, kind := textAt(doc, "apiVersion"), textAt(doc, "kind")
	if items, isList := doc["items"].([]any); isList && strings.HasSuffix(kind, "List") {
		for _, item := range items {
			inner, _ := item.(map[string]any)
			if err := k.onObject(inner, verbs); err != nil {
				return err
			}
		}
		return nil
	}
	if !isKnown(apiVersion) || !isKnown(kind) || kind == "" {
		return errors.New("the kind of an object is known only at run time")
	}
	found, err := k.Kinds.Find(apiVersion, kind)
	if err != nil {
		k.unknownKind(k.at(), k.title(), err)
		return nil
	}
	metadata, _ := doc["metadata"].(map[string]any)
	object := *k
	object.options = maps.Clone(k.options)
	delete(object.options, "field-selector")
	if ns := textAt(metadata, "namespace"); ns != "" {
		object.options["namespace"] = ns
	}
	t := target{found, textAt(metadata, "name")}
	if k.command == "scale" {
		object.scaleTarget(t)
	} else {
		object.allowTarget(t, k.options["subresource"], verbs...)
	}
	return nil
}
