package rbac

import (
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
)

// special handles commands whose requests follow from more than a kind and names,
// and reports whether the command is one of them.
func (k *kubectlCall) special() bool {
	switch k.command {
	case "create":
		k.create()
	case "run":
		k.runPod()
	case "scale":
		k.scale()
	case "logs":
		k.logs()
	case "exec", "attach":
		k.connect(k.command)
	case "port-forward":
		k.connect("portforward")
	case "top pod", "top pods", "top po":
		k.top("pods")
	case "top node", "top nodes", "top no":
		k.top("nodes")
	case "events":
		k.events()
	case "cordon", "uncordon":
		k.nodes()
	case "cp":
		k.copies()
	case "autoscale":
		k.also("horizontalpodautoscalers")
	case "expose":
		k.also("services")
	default:
		return false
	}
	return true
}

// create makes one object of a kind that its first word names.
func (k *kubectlCall) create() {
	if len(k.words) == 0 || !isKnown(k.words[0]) {
		k.unseen("what it makes is known only when it runs")
		return
	}
	kind := k.words[0]
	if kind == "token" {
		k.grantKind("serviceaccounts", "token", nameIn(k.words, 1), "create")
		return
	}
	if kind == "quota" {
		kind = "resourcequota"
	}
	found, err := k.Kinds.Argument(kind)
	if err != nil {
		k.unknownKind(k.at, k.title(), err)
		return
	}
	k.grant(target{Kind: found}, "", "create")
	if from, given := k.options["from"]; given {
		k.from(from)
	}
}

// from allows to read what --from names.
func (k *kubectlCall) from(named string) {
	if of, name, pair := strings.Cut(named, "/"); pair && isKnown(of) {
		k.grantKind(of, "", name, "get")
	} else {
		k.unseen("what --from names is known only when it runs")
	}
}

func nameIn(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return hole
}

func (k *kubectlCall) runPod() {
	if k.has("stdin", "tty", "attach", "rm", "expose") {
		k.unseen("it stays with the pod that it makes")
		return
	}
	k.grantKind("pods", "", "", "create")
}

// scale reads the object and patches its scale.
func (k *kubectlCall) scale() {
	targets, ok := k.targets(k.words)
	if !ok {
		return
	}
	for _, t := range targets {
		if t.name == "" {
			k.grant(t, "", "list")
		} else {
			k.grant(t, "", "get")
		}
		k.scaled(t)
	}
}

// scaled allows what scale does with an object that it knows, as from a file.
func (k *kubectlCall) scaled(t target) {
	if k.has("current-replicas", "resource-version") {
		k.grant(t, "scale", "get", "update")
	} else {
		k.grant(t, "scale", "patch")
	}
}

// copies runs tar in a pod, whose name stands before a colon.
func (k *kubectlCall) copies() {
	for _, word := range k.words {
		pod, _, remote := strings.Cut(word, ":")
		if !remote {
			if !isKnown(word) {
				k.unseen("whether %s is in a pod is known only when it runs", shown(word))
			}
			continue
		}
		there := *k
		if namespace, name, both := strings.Cut(pod, "/"); both {
			there.options = map[string]string{"namespace": namespace}
			pod = name
		}
		there.grantKind("pods", "", pod, "get")
		there.grantKind("pods", "exec", pod, "create", "get")
	}
}

// pods are those that an argument such as deploy/a leads to: of one that is none,
// they are looked up.
func (k *kubectlCall) pods() (name string, ok bool) {
	if len(k.words) == 0 {
		k.grantKind("pods", "", "", "list")
		return "", true
	}
	word := k.words[0]
	kind, name, pair := strings.Cut(word, "/")
	if !pair {
		k.grantKind("pods", "", word, "get")
		return word, true
	}
	found, ok := k.kindsOf(kind)
	if !ok {
		return "", false
	}
	for _, f := range found {
		k.grant(target{f, name}, "", "get")
		if f.Resource == "pods" {
			return name, true
		}
	}
	k.grantKind("pods", "", "", "list")
	return "", true
}

func (k *kubectlCall) logs() {
	if name, ok := k.pods(); ok {
		k.grantKind("pods", "log", name, "get")
	}
}

// connect opens a stream to a pod: with a get by WebSockets, for which a newer API
// server wants the right to create, too, and a post by what was there before.
func (k *kubectlCall) connect(subresource string) {
	if name, ok := k.pods(); ok {
		k.grantKind("pods", subresource, name, "create", "get")
	}
}

// top asks the API of metrics, which is not one of the API server's own.
func (k *kubectlCall) top(resource string) {
	kind := kinds.Kind{Group: "metrics.k8s.io", Resource: resource, Namespaced: resource == "pods"}
	if len(k.words) > 0 {
		k.grant(target{kind, k.words[0]}, "", "get")
	} else {
		k.grant(target{Kind: kind}, "", "list")
	}
	if resource == "nodes" { // what they have
		k.grantKind("nodes", "", nameIn(append(k.words, ""), 0), map[bool]string{true: "get", false: "list"}[len(k.words) > 0])
	}
}

func (k *kubectlCall) events() {
	k.grantKind("events", "", "", "list")
	if k.has("watch") {
		k.grantKind("events", "", "", "watch")
	}
}

func (k *kubectlCall) nodes() {
	for _, name := range k.words {
		k.grantKind("nodes", "", name, "get", "patch")
	}
	if len(k.words) == 0 {
		k.grantKind("nodes", "", "", "list", "patch")
	}
}

// also reads what it is about, and makes an object of another kind for it.
func (k *kubectlCall) also(resource string) {
	targets, ok := k.targets(k.words)
	for _, t := range targets {
		k.grant(t, "", "get")
	}
	if ok {
		k.grantKind(resource, "", "", "create")
	}
}
