package rbac

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/roles"
)

// kubectlCommand says which requests a command sends: for objects that it names, for
// objects that it searches, for objects in a file, and for the pod that it finds. Each is
// a list of verbs, with a subresource after a slash.
type kubectlCommand struct{ named, listed, file, pod string }

// kubectlCommands are the commands that are followed, and those at the end, which send
// no request that needs a permission.
var kubectlCommands = map[string]kubectlCommand{
	"annotate":        {named: "get patch", listed: "list patch", file: "get patch"},
	"apply":           {file: "create get patch"},
	"cp":              {pod: "create/exec get/exec"},
	"create":          {file: "create"},
	"delete":          {named: "delete", listed: "delete list", file: "delete"},
	"describe":        {named: "get", listed: "list"},
	"exec":            {pod: "create/exec get/exec"},
	"get":             {named: "get", listed: "list", file: "get"},
	"label":           {named: "get patch", listed: "list patch", file: "get patch"},
	"logs":            {pod: "get/log"},
	"patch":           {named: "get patch", listed: "list patch", file: "get patch"},
	"replace":         {file: "update"},
	"rollout restart": {named: "get patch", listed: "list patch", file: "get patch"},
	"rollout status":  {named: "get list watch", listed: "list watch", file: "get list watch"},
	"run":             {pod: "create"},
	"set image":       {named: "get patch", listed: "list patch"},
	"top pod":         {pod: "get"},
	"top pods":        {pod: "get"},
	"scale":           {named: "get patch/scale", listed: "list patch/scale", file: "patch/scale"},
	"wait":            {named: "get list watch", listed: "list watch", file: "get list watch"},

	"": {}, "api-resources": {}, "api-versions": {}, "auth can-i": {}, "auth whoami": {}, "config current-context": {}, "config view": {},
	"help": {}, "kustomize": {}, "version": {},
}

// kubectlCall is a kubectl command line in a program.
type kubectlCall struct {
	invocation
	kubectlArgs
}

const kubeconfigVariable = "KUBECONFIG"

// target is what a call is about.
type target struct {
	kinds.Kind
	name string // "" when the call searches objects
	role roleRef
}

// kubectl allows what a kubectl command line does.
func (c invocation) kubectl() {
	c.kubectls++
	k := &kubectlCall{c, parseKubectl(c.args)}
	command, known := kubectlCommands[k.command]
	switch {
	case k.problem != "":
		k.unknown("%s", k.problem)
	case len(c.variables[kubeconfigVariable]) > 0 || c.node != nil && strings.Contains(source(c.node), kubeconfigVariable+"="):
		k.unknown("with KUBECONFIG another account may send the requests")
	case !known || len(k.files) > 0 && command.file == "":
		k.unknown("its requests are unknown")
	case k.has("help") || command == kubectlCommand{} || k.command == "create" && k.onClient():
	case len(k.files) > 0:
		k.onFiles(command.file)
	case k.command == "create":
		k.create()
	case command.pod != "":
		k.onPods(command.pod)
	case command.named == "":
		k.unknown("it names no file")
	default:
		k.onTargets(command)
	}
}

func (k *kubectlCall) unknown(format string, args ...any) {
	k.reportUnknown(k.title+": "+format, args...)
}

// create creates an object of the kind that the first word names.
func (k *kubectlCall) create() {
	kind := wordAt(k.words, 0)
	switch found, err := k.Kinds.FindArgument(kind); {
	case kind == "token":
		k.allowKind("serviceaccounts", wordAt(k.words, 1), "create/token")
	case !isKnown(kind) || kind == "quota":
		k.unknown("its requests are unknown")
	case err != nil:
		k.unknownKind(k.at(), k.title, err)
	default:
		role := roleRef{"Role", k.options["role"]}
		if name := k.options["clusterrole"]; name != "" {
			role = roleRef{"ClusterRole", name}
		}
		k.allowTarget(target{Kind: found, role: role}, "create")
		if from := k.options["from"]; from != "" { // create job --from=cronjob/NAME
			kind, name, _ := strings.Cut(from, "/")
			k.allowKind(kind, name, "get")
		}
	}
}

// allowKind is allowTarget for kinds by name, and reports whether their names are known.
func (k *kubectlCall) allowKind(kind, name, verbs string) bool {
	found, ok := k.kindsOf(kind)
	for _, f := range found {
		k.allowTarget(target{Kind: f, name: name}, verbs)
	}
	return ok
}

// onTargets handles commands with kinds and names among their words: TYPE NAME...,
// TYPE/NAME... or TYPE,TYPE.
func (k *kubectlCall) onTargets(command kubectlCommand) {
	words := k.words
	if isOneOf(k.command, "label", "annotate", "set image") { // a=b and a- are changes
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.Contains(w, "=") || strings.HasSuffix(w, "-") })
	}
	if len(words) == 0 {
		k.unknown("it names no kind")
		return
	}
	pairs := strings.Contains(words[0], "/")
	for i, word := range words {
		kind, name, pair := strings.Cut(word, "/")
		switch {
		case pairs && !pair:
			k.unknown("an argument is known only at run time: %s", shown(word))
			return
		case pairs:
		case i > 0:
			kind, name = words[0], word
		case len(words) > 1 && !k.has("all"):
			continue // names follow
		}
		verbs := command.named
		if name == "" || k.has("all") {
			name, verbs = "", command.listed
		}
		if !k.allowKind(kind, name, k.withWait(verbs)) {
			return
		}
	}
	if k.command == "describe" {
		k.allowKind("events", "", "list")
	}
}

// withWait adds what kubectl get needs to watch, and kubectl delete to wait until the
// objects are gone. It ignores that it may not read them.
func (k *kubectlCall) withWait(verbs string) string {
	if k.command == "get" && (k.has("watch") || k.has("watch-only")) {
		return "watch " + verbs
	}
	if k.command == "delete" && k.options["wait"] != "false" && k.options["dry-run"] == "" {
		return "get list watch " + verbs
	}
	return verbs
}

// kindsOf parses a list of kinds and categories.
func (k *kubectlCall) kindsOf(list string) (all []kinds.Kind, ok bool) {
	if !isKnown(list) {
		k.unknown("the kind is known only at run time")
		return nil, false
	}
	for name := range strings.SplitSeq(list, ",") {
		kind, err := k.Kinds.FindArgument(name)
		category := k.Kinds.Category(name)
		switch {
		case err == nil:
			all = append(all, kind)
		case len(category) > 0:
			all = append(all, category...)
		default:
			k.unknownKind(k.at(), k.title, err)
		}
	}
	return all, true
}

// allowTarget allows verbs on a target in the namespace of the call.
func (k *kubectlCall) allowTarget(t target, verbs string) {
	in, why := roles.Scope{Namespace: k.options["namespace"]}, k.title
	if k.allNamespaces || !isKnown(in.Namespace) {
		if in = roles.Everywhere; !k.allNamespaces && t.Namespaced {
			why += " in a namespace known only at run time"
		}
	}
	var names []string
	if name := cmp.Or(t.name, nameSelected(k.options["field-selector"])); name != "" && isKnown(name) {
		names = []string{name}
	}
	for verb := range strings.FieldsSeq(verbs) {
		verb, subresource, found := strings.Cut(verb, "/")
		if k.onClient() && !isOneOf(verb, "get", "list", "watch") {
			continue
		}
		if !found {
			subresource = k.options["subresource"]
		}
		if !isKnown(subresource) {
			k.unknown("the subresource is known only at run time")
			return
		}
		k.allow(k.at(), in, objects{t.Kind, subresource, names}, why, verb)
		k.escalate(k.Source, k.at(), in, t.Kind, t.role, k.title, verb)
	}
}

// onFiles handles commands with objects from files. Of these the standard input may be
// known.
func (k *kubectlCall) onFiles(verbs string) {
	switch {
	case k.command == "apply" && k.has("force"):
		k.unknown("operon does not analyze the option --force")
		return
	case k.command == "apply" && k.has("server-side"):
		verbs = "create patch"
	case k.command == "replace" && k.has("force"):
		verbs = "create delete get"
	}
	for _, file := range k.files {
		if file != "-" && file != "/dev/stdin" {
			k.unknown("the objects are in a file: %s", shown(file))
			return
		}
	}
	texts, known := []string(nil), false
	if k.input != nil {
		texts, known = k.input()
	}
	for _, text := range texts {
		docs, err := documents(text)
		known = known && err == nil
		for _, doc := range docs {
			known = k.onObject(doc, k.withWait(verbs)) && known
		}
	}
	if !known {
		k.unknown("the objects are known only at run time")
	}
}

// onObject allows verbs on an object, and reports whether its kind is known.
func (k *kubectlCall) onObject(doc map[string]any, verbs string) (known bool) {
	apiVersion, kind := textAt(doc, "apiVersion"), textAt(doc, "kind")
	if !isKnown(apiVersion) || !isKnown(kind) || kind == "" || doc["items"] != nil {
		return false
	}
	found, err := k.Kinds.Find(apiVersion, kind)
	if err != nil {
		k.unknownKind(k.at(), k.title, err)
		return true
	}
	metadata, _ := doc["metadata"].(map[string]any)
	object := *k
	object.options = maps.Clone(k.options)
	delete(object.options, "field-selector")
	if ns := textAt(metadata, "namespace"); ns != "" {
		object.options["namespace"] = ns
	}
	object.allowTarget(target{found, textAt(metadata, "name"), roleRefIn(doc)}, verbs)
	return true
}

// printedByKubectl is what kubectl prints, as far as it identifies objects: get -o name,
// or create with --dry-run=client and -o.
func (d *deriver) printedByKubectl(args []string) (text string, known bool) {
	k := parseKubectl(args)
	if k.problem != "" || len(k.files) > 0 || len(k.words) == 0 || !isKnown(k.words[0]) {
		return "", false
	}
	kind, err := d.Kinds.FindArgument(k.words[0])
	switch format := k.options["output"]; {
	case err != nil:
		return "", false
	case k.command == "get" && format == "name":
		return kind.String() + "/" + unknown, true
	case k.command != "create" || !k.onClient() || !isOneOf(format, "yaml", "json"):
		return "", false
	}
	name := 1
	if isOneOf(kind.Resource, "secrets", "services") { // create secret generic NAME
		name = 2
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: \"%s\", namespace: \"%s\"}\n",
		kind.APIVersion(), kind.Kind, wordAt(k.words, name), k.options["namespace"]), true
}
