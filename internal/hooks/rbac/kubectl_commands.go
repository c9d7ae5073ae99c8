package rbac

import (
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
)

// kubectlCommand says which requests a command sends: for objects that it names, for
// objects that it searches, and for objects in a file. Commands without any send no
// request that needs a permission.
type kubectlCommand struct {
	named, listed, file []string
	derive              func(*kubectlCall) // instead of named and listed
}

var (
	verbGet, verbList   = []string{"get"}, []string{"list"}
	verbsWatch          = []string{"list", "watch"}
	verbsWait           = []string{"get", "list", "watch"}
	verbsChange         = []string{"get", "patch"}
	verbsChangeAll      = []string{"list", "patch"}
	kubectlChange       = kubectlCommand{named: verbsChange, listed: verbsChangeAll, file: verbsChange}
	kubectlChangeByName = kubectlCommand{named: verbsChange, listed: verbsChangeAll}
	kubectlTopNodes     = kubectlCommand{derive: func(k *kubectlCall) { k.top("nodes") }}
	kubectlTopPods      = kubectlCommand{derive: func(k *kubectlCall) { k.top("pods") }}
)

var kubectlCommands = map[string]kubectlCommand{
	"annotate":                kubectlChange,
	"apply":                   {file: []string{"create", "get", "patch"}},
	"apply view-last-applied": {named: verbGet, listed: verbList},
	"attach":                  {derive: func(k *kubectlCall) { k.connect("attach") }},
	"autoscale":               {derive: func(k *kubectlCall) { k.createFor("horizontalpodautoscalers") }},
	"cordon":                  {derive: (*kubectlCall).cordon},
	"cp":                      {derive: (*kubectlCall).copy},
	"create":                  {derive: (*kubectlCall).create, file: []string{"create"}},
	"delete":                  {named: []string{"delete"}, listed: []string{"delete", "list"}, file: []string{"delete"}},
	"describe":                {named: verbGet, listed: verbList, file: verbGet},
	"diff":                    {file: []string{"create", "get", "patch"}},
	"events":                  {derive: (*kubectlCall).events},
	"exec":                    {derive: func(k *kubectlCall) { k.connect("exec") }},
	"expose":                  {derive: func(k *kubectlCall) { k.createFor("services") }},
	"get":                     {named: verbGet, listed: verbList, file: verbGet},
	"label":                   kubectlChange,
	"logs":                    {derive: (*kubectlCall).logs},
	"patch":                   kubectlChange,
	"port-forward":            {derive: func(k *kubectlCall) { k.connect("portforward") }},
	"replace":                 {file: []string{"update"}},
	"rollout pause":           kubectlChangeByName,
	"rollout restart":         kubectlChange,
	"rollout resume":          kubectlChangeByName,
	"rollout status":          {named: verbsWait, listed: verbsWatch, file: verbsWait},
	"run":                     {derive: (*kubectlCall).run},
	"scale":                   {derive: (*kubectlCall).scale, file: []string{}},
	"set env":                 kubectlChangeByName,
	"set image":               kubectlChangeByName,
	"set resources":           kubectlChangeByName,
	"set selector":            kubectlChangeByName,
	"set serviceaccount":      kubectlChangeByName,
	"set subject":             kubectlChangeByName,
	"taint":                   kubectlChangeByName,
	"top no":                  kubectlTopNodes,
	"top node":                kubectlTopNodes,
	"top nodes":               kubectlTopNodes,
	"top po":                  kubectlTopPods,
	"top pod":                 kubectlTopPods,
	"top pods":                kubectlTopPods,
	"uncordon":                {derive: (*kubectlCall).cordon},
	"wait":                    {named: verbsWait, listed: verbsWatch, file: verbsWait},

	"": {}, "help": {}, "version": {}, "api-resources": {}, "api-versions": {}, "completion": {}, "options": {}, "explain": {}, "kustomize": {},
	"config": {}, "config view": {}, "config current-context": {}, "config get-contexts": {}, "auth can-i": {}, "auth whoami": {},
	"plugin": {}, "plugin list": {},
}

// create creates an object of the kind that the first word names.
func (k *kubectlCall) create() {
	kind := wordAt(k.words, 0)
	switch {
	case !isKnown(kind):
		k.unknown("the kind is known only at run time")
		return
	case kind == "token":
		k.allowResource("serviceaccounts", "token", wordAt(k.words, 1), "create")
		return
	case kind == "quota":
		kind = "resourcequota"
	}
	if found, err := k.Kinds.Argument(kind); err != nil {
		k.unknownKind(k.at(), k.title(), err)
	} else {
		k.allowTarget(target{Kind: found}, "", "create")
		k.readFrom()
	}
}

// readFrom allows to read what --from names.
func (k *kubectlCall) readFrom() {
	from, given := k.options["from"]
	switch kind, name, pair := strings.Cut(from, "/"); {
	case !given:
	case pair && isKnown(kind):
		k.allowResource(kind, "", name, "get")
	default:
		k.unknown("the object of --from is known only at run time")
	}
}

func (k *kubectlCall) run() {
	if k.has("stdin", "tty", "attach", "rm", "expose") {
		k.unknown("it attaches to the pod that it creates")
		return
	}
	k.allowResource("pods", "", "", "create")
}

// scale reads objects and changes their scale.
func (k *kubectlCall) scale() {
	targets, _ := k.targets(k.words)
	for _, t := range targets {
		if t.name == "" {
			k.allowTarget(t, "", "list")
		} else {
			k.allowTarget(t, "", "get")
		}
		k.scaleTarget(t)
	}
}

func (k *kubectlCall) scaleTarget(t target) {
	if k.has("current-replicas", "resource-version") {
		k.allowTarget(t, "scale", "get", "update")
	} else {
		k.allowTarget(t, "scale", "patch")
	}
}

// copy runs tar in the pod that stands before a colon.
func (k *kubectlCall) copy() {
	for _, word := range k.words {
		pod, _, remote := strings.Cut(word, ":")
		if !remote {
			if !isKnown(word) {
				k.unknown("the pod is known only at run time")
			}
			continue
		}
		there := *k
		if namespace, name, both := strings.Cut(pod, "/"); both {
			there.options = map[string]string{"namespace": namespace}
			pod = name
		}
		there.allowResource("pods", "", pod, "get")
		there.allowResource("pods", "exec", pod, "create", "get")
	}
}

// findPod allows to find the pod of an argument such as deploy/a, and returns its name.
func (k *kubectlCall) findPod() (name string, ok bool) {
	if len(k.words) == 0 {
		k.allowResource("pods", "", "", "list")
		return "", true
	}
	kind, name, pair := strings.Cut(k.words[0], "/")
	if !pair {
		k.allowResource("pods", "", kind, "get")
		return kind, true
	}
	found, ok := k.kindsOf(kind)
	if !ok {
		return "", false
	}
	for _, f := range found {
		k.allowTarget(target{f, name}, "", "get")
		if f.Resource == "pods" {
			return name, true
		}
	}
	k.allowResource("pods", "", "", "list")
	return "", true
}

func (k *kubectlCall) logs() {
	if name, ok := k.findPod(); ok {
		k.allowResource("pods", "log", name, "get")
	}
}

// connect opens a stream to a pod: a get with WebSockets, for which newer API servers
// also require create, or a post.
func (k *kubectlCall) connect(subresource string) {
	if name, ok := k.findPod(); ok {
		k.allowResource("pods", subresource, name, "create", "get")
	}
}

// top reads the metrics API, and the capacity of nodes.
func (k *kubectlCall) top(resource string) {
	verb, name := "list", ""
	if len(k.words) > 0 {
		verb, name = "get", k.words[0]
	}
	kind := kinds.Kind{Group: "metrics.k8s.io", Resource: resource, Namespaced: resource == "pods"}
	k.allowTarget(target{kind, name}, "", verb)
	if resource == "nodes" {
		k.allowResource("nodes", "", name, verb)
	}
}

func (k *kubectlCall) events() {
	k.allowResource("events", "", "", "list")
	if k.has("watch") {
		k.allowResource("events", "", "", "watch")
	}
}

func (k *kubectlCall) cordon() {
	for _, name := range k.words {
		k.allowResource("nodes", "", name, "get", "patch")
	}
	if len(k.words) == 0 {
		k.allowResource("nodes", "", "", "list", "patch")
	}
}

// createFor reads an object and creates one of another kind for it.
func (k *kubectlCall) createFor(resource string) {
	targets, ok := k.targets(k.words)
	for _, t := range targets {
		k.allowTarget(t, "", "get")
	}
	if ok {
		k.allowResource(resource, "", "", "create")
	}
}
