package rbac

import (
	"maps"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
)

// onPods handles commands for a pod: POD, or TYPE/NAME of an object that has pods.
func (k *kubectlCall) onPods(verbs string) {
	switch {
	case k.command == "cp":
		k.copy(verbs)
	case k.command == "run" && (k.has("stdin") || k.has("tty")):
		k.unknown("it attaches to the pod that it creates")
	case k.command == "run":
		k.allowKind("pods", "", verbs)
	case strings.HasPrefix(k.command, "top "):
		k.top(wordAt(append(k.words, ""), 0))
	case len(k.words) == 0:
		k.allowKind("pods", "", "list "+verbs)
	default:
		kind, name, pair := strings.Cut(k.words[0], "/")
		if !pair {
			kind, name = "pods", k.words[0]
		}
		found, ok := k.kindsOf(kind)
		if !ok {
			return
		}
		k.allowKind(kind, name, "get")
		if found[0].Resource == "pods" {
			k.allowKind("pods", name, verbs)
		} else {
			k.allowKind("pods", "", "list "+verbs)
		}
	}
}

// copy runs tar in the pod before the colon of an argument.
func (k *kubectlCall) copy(verbs string) {
	for _, word := range k.words {
		pod, _, remote := strings.Cut(word, ":")
		if !remote {
			if !isKnown(word) {
				k.unknown("the pod is known only at run time")
			}
			continue
		}
		in := *k
		if namespace, name, both := strings.Cut(pod, "/"); both {
			in.options, pod = maps.Clone(k.options), name
			in.options["namespace"] = namespace
		}
		in.allowKind("pods", pod, "get "+verbs)
	}
}

// top reads the metrics API.
func (k *kubectlCall) top(pod string) {
	pods, verb := kinds.Kind{Group: "metrics.k8s.io", Resource: "pods", Namespaced: true}, "get"
	if pod == "" {
		verb = "list"
	}
	k.allowTarget(target{Kind: pods, name: pod}, verb)
}
