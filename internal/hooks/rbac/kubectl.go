package rbac

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"mvdan.cc/sh/v3/syntax"
)

// harmless are commands that ask for nothing that an account may not do in any case.
var harmless = []string{"", "help", "version", "api-resources", "api-versions", "completion", "options", "explain", "kustomize",
	"config", "config view", "config current-context", "config get-contexts", "auth can-i", "auth whoami", "plugin", "plugin list"}

// verbs are the requests that a command sends for objects that it names, and for
// those that it looks for.
type verbs struct{ named, listed []string }

var (
	change = verbs{[]string{"get", "patch"}, []string{"list", "patch"}}
	// commandVerbs are those of commands with a kind and names.
	commandVerbs = map[string]verbs{
		"get":                     {[]string{"get"}, []string{"list"}},
		"describe":                {[]string{"get"}, []string{"list"}},
		"delete":                  {[]string{"delete"}, []string{"delete", "list"}},
		"patch":                   change,
		"label":                   change,
		"annotate":                change,
		"taint":                   change,
		"set image":               change,
		"set env":                 change,
		"set resources":           change,
		"set serviceaccount":      change,
		"set selector":            change,
		"set subject":             change,
		"rollout restart":         change,
		"rollout pause":           change,
		"rollout resume":          change,
		"rollout status":          {[]string{"get", "list", "watch"}, []string{"list", "watch"}},
		"wait":                    {[]string{"get", "list", "watch"}, []string{"list", "watch"}},
		"apply view-last-applied": {[]string{"get"}, []string{"list"}},
	}
	// fileVerbs are those of commands with objects from a file.
	fileVerbs = map[string][]string{
		"get": {"get"}, "describe": {"get"}, "create": {"create"}, "delete": {"delete"}, "apply": {"create", "get", "patch"}, "replace": {"update"},
		"patch": {"get", "patch"}, "label": {"get", "patch"}, "annotate": {"get", "patch"}, "wait": {"get", "list", "watch"},
		"rollout restart": {"get", "patch"}, "rollout status": {"get", "list", "watch"}, "diff": {"create", "get", "patch"},
	}
)

// kubectl allows what a call of kubectl does, of which the program is the first word.
func (p *program) kubectl(call []string, c *syntax.CallExpr, in *script, f *frame) {
	p.calls++
	r := parseKubectl(call)
	if r.unknown == "" && p.choosesConfig(c, f) {
		r.unknown = "with KUBECONFIG it is not the operator's account that asks"
	}
	(&kubectlCall{program: p, request: r, at: in.at(c), in: in, c: c, f: f}).derive()
}

// kubectlAt is kubectl for a call that is no command of a shell.
func (p *program) kubectlAt(call []string, at place, in *script) {
	(&kubectlCall{program: p, request: parseKubectl(call), at: at, in: in}).derive()
}

// choosesConfig reports whether a script names a file that says whom kubectl asks.
func (p *program) choosesConfig(c *syntax.CallExpr, f *frame) bool {
	const variable = "KUBECONFIG"
	all := p.vars[variable]
	for ; f.outer != nil; f = f.outer {
		all = slices.Concat(all, f.own.vars[variable])
	}
	return slices.ContainsFunc(all, func(w writer) bool { return len(w.words) > 0 }) ||
		slices.ContainsFunc(c.Args, func(w *syntax.Word) bool {
			return strings.HasPrefix(w.Lit(), variable+"=") || literalStart(w, variable+"=")
		})
}

// literalStart reports whether a word begins with a text, whatever follows it.
func literalStart(w *syntax.Word, text string) bool {
	first, is := w.Parts[0].(*syntax.Lit)
	return is && strings.HasPrefix(first.Value, text)
}

func (k *kubectlCall) derive() {
	switch {
	case k.unknown != "":
		k.unseen("%s", k.unknown)
	case k.has("help") || isOneOf(k.command, harmless...) || k.has("local") || k.onClient() && isOneOf(k.command, "create", "run") && !k.has("from"):
	case k.request.program == "oc" && k.command == "expose":
		k.unseen("it makes routes, too")
	case k.has("raw"):
		k.unseen("--raw asks for a path, which urls= or resources= of a marker name")
	case len(k.files) > 0:
		k.fromFiles()
	default:
		k.onKinds()
	}
}

// kubectlCall is a call of kubectl in a program.
type kubectlCall struct {
	*program
	request
	at place
	in *script
	c  *syntax.CallExpr // nil outside of shell
	f  *frame
}

func (k *kubectlCall) unseen(format string, args ...any) {
	k.program.unseen(k.at, k.in, k.title()+": "+format, args...)
}

// title is what a call is called: kubectl get.
func (k *kubectlCall) title() string { return strings.TrimSpace(k.request.program + " " + k.command) }

// target is what a call is about.
type target struct {
	kinds.Kind
	name string // "" when it looks for objects; with holes when it is not known
}

// onKinds handles commands with kinds and names among their words.
func (k *kubectlCall) onKinds() {
	if v, known := commandVerbs[k.command]; known {
		targets, ok := k.targets(k.words)
		if !ok {
			return
		}
		for _, t := range targets {
			verbs := v.named
			if t.name == "" {
				verbs = v.listed
			}
			if k.has("watch", "watch-only") && k.command == "get" {
				verbs = append([]string{"watch"}, verbs...)
			}
			if k.has("list") && k.command == "label" {
				verbs = []string{"get"}
			}
			if k.command == "delete" && k.waits() {
				verbs = append([]string{"get", "list", "watch"}, verbs...)
			}
			k.grant(t, k.options["subresource"], verbs...)
			if k.command == "describe" {
				k.grantKind("events", "", "", "list")
			}
		}
		if from := k.options["from"]; from != "" && k.command == "set env" {
			k.from(from)
		}
		return
	}
	if !k.special() {
		k.unseen("which requests it sends is not known here")
	}
}

// waits reports whether kubectl delete waits until the objects are gone. That it may
// not look it says to nobody, and goes on.
func (k *kubectlCall) waits() bool { return !slices.Contains(k.off, "wait") && !k.has("dry-run") }

// grant allows verbs on what a call is about, in its namespace.
func (k *kubectlCall) grant(t target, subresource string, verbs ...string) {
	in := where{namespace: k.options["namespace"]}
	if k.everywhere || !isKnown(in.namespace) {
		in = everywhere
	}
	if !isKnown(subresource) {
		k.unseen("which subresource it is about is known only when it runs")
		return
	}
	var names []string
	if t.name != "" && isKnown(t.name) {
		names = []string{t.name}
	} else if name, by := strings.CutPrefix(k.options["field-selector"], "metadata.name="); by && isKnown(name) && !strings.ContainsAny(name, ",=") {
		names = []string{name}
	}
	if k.onClient() {
		verbs = slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return !isOneOf(v, "get", "list", "watch") })
	}
	k.allow(k.at, in, t.Kind, subresource, names, k.title(), verbs...)
	k.gives(k.at, k.in, t.Kind, k.title(), verbs...)
}

// grantKind is grant for a kind of Kubernetes.
func (k *kubectlCall) grantKind(resource, subresource, name string, verbs ...string) {
	if kind, err := k.Kinds.Argument(resource); err == nil {
		k.grant(target{kind, name}, subresource, verbs...)
	}
}

// targets reads kinds and names: TYPE NAME..., TYPE/NAME... or TYPE,TYPE.
func (k *kubectlCall) targets(words []string) (all []target, ok bool) {
	if len(words) == 0 {
		k.unseen("it names no kind")
		return nil, false
	}
	if strings.Contains(words[0], "/") {
		for _, w := range words {
			kind, name, pair := strings.Cut(w, "/")
			if !pair {
				if k.isChange(w) {
					continue
				}
				k.unseen("what %s is, is known only when it runs", shown(w))
				return nil, false
			}
			found, ok := k.kindsOf(kind)
			if !ok {
				return nil, false
			}
			for _, f := range found {
				all = append(all, target{f, name})
			}
		}
		return all, true
	}
	var names []string
	for _, w := range words[1:] {
		if !k.isChange(w) {
			names = append(names, w)
		}
	}
	if len(names) == 0 || k.has("all") {
		names = []string{""}
	}
	found, ok := k.kindsOf(words[0])
	if !ok {
		return nil, false
	}
	for _, f := range found {
		for _, name := range names {
			all = append(all, target{f, name})
		}
	}
	return all, true
}

// isChange reports whether a word is a label and the like to set, a=b, or to
// remove, a-, and no name.
func (k *kubectlCall) isChange(word string) bool {
	switch k.command {
	case "label", "annotate", "set image", "set env", "set resources", "set serviceaccount":
		return strings.Contains(word, "=") || strings.HasSuffix(word, "-")
	case "taint":
		return strings.ContainsAny(word, "=:") || strings.HasSuffix(word, "-")
	}
	return false
}

// kindsOf reads a list of kinds, in which a category stands for several.
func (k *kubectlCall) kindsOf(list string) (all []kinds.Kind, ok bool) {
	if !isKnown(list) {
		k.unseen("which kind it is about is known only when it runs")
		return nil, false
	}
	for name := range strings.SplitSeq(list, ",") {
		kind, err := k.Kinds.Argument(name)
		if err == nil {
			all = append(all, kind)
			continue
		}
		if category := k.Kinds.Category(name); len(category) > 0 {
			all = append(all, category...)
			continue
		}
		k.unknownKind(k.at, k.title(), err)
		return nil, false
	}
	return all, true
}

// fromFiles handles commands with objects from files, of which the standard input
// may be known.
func (k *kubectlCall) fromFiles() {
	verbs, known := fileVerbs[k.command]
	if !known && k.command != "scale" {
		k.unseen("which requests it sends is not known here")
		return
	}
	switch {
	case k.command == "apply" && k.has("prune"):
		k.unseen("--prune looks for objects of many kinds")
		return
	case k.command == "apply" && k.has("server-side"):
		verbs = []string{"create", "patch"}
	case k.command == "apply" && k.has("force"):
		verbs = []string{"create", "delete", "get", "list", "patch", "watch"} // of what cannot be changed it makes another one
	case k.command == "replace" && k.has("force"):
		verbs = []string{"create", "delete", "get"}
	case k.command == "delete" && k.waits():
		verbs = []string{"delete", "get", "list", "watch"}
	}
	for _, file := range k.files {
		if file != "-" && file != "/dev/stdin" {
			k.unseen("what is in %s is not looked at", shown(file))
			return
		}
	}
	var texts []string
	ok := false
	if k.c != nil {
		texts, ok = k.input(k.c, k.in, k.f)
	}
	if !ok {
		k.unseen("the objects come from where they cannot be seen")
		return
	}
	for _, text := range texts {
		if err := k.objects(text, verbs); err != nil {
			k.unseen("%v", err)
			return
		}
	}
}

// objects allows verbs on the objects in a text.
func (k *kubectlCall) objects(text string, verbs []string) error {
	docs, err := documents(text)
	if err != nil {
		return errors.New("the objects do not parse before it runs")
	}
	for _, doc := range docs {
		if err := k.object(doc, verbs); err != nil {
			return err
		}
	}
	return nil
}

// object allows verbs on an object, or on those in a list.
func (k *kubectlCall) object(doc map[string]any, verbs []string) error {
	apiVersion, kind := textAt(doc, "apiVersion"), textAt(doc, "kind")
	if items, isList := doc["items"].([]any); isList && strings.HasSuffix(kind, "List") {
		for _, item := range items {
			inner, _ := item.(map[string]any)
			if err := k.object(inner, verbs); err != nil {
				return err
			}
		}
		return nil
	}
	if !isKnown(apiVersion) || !isKnown(kind) || kind == "" {
		return errors.New("the kind of an object is known only when it runs")
	}
	found, err := k.Kinds.Find(apiVersion, kind)
	if err != nil {
		k.unknownKind(k.at, k.title(), err)
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
		object.scaled(t)
		return nil
	}
	object.grant(t, k.options["subresource"], verbs...)
	return nil
}
