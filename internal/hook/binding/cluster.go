// Package binding makes the binding contexts that shell-operator passes to a
// hook, from the hook's configuration and the objects of a cluster, without a
// cluster and without the engine.
package binding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"github.com/itchyny/gojq"
	"github.com/operon-dev/operon/internal/hook/config"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// Cluster is the objects that are there.
type Cluster []*unstructured.Unstructured

// After is the cluster as it is after an object was Added, Modified or Deleted.
func (c Cluster) After(event string, o *unstructured.Unstructured) Cluster {
	next := slices.DeleteFunc(slices.Clone(c), func(other *unstructured.Unstructured) bool {
		return other.GroupVersionKind() == o.GroupVersionKind() && other.GetNamespace() == o.GetNamespace() && other.GetName() == o.GetName()
	})
	if event != "Deleted" {
		next = append(next, o)
	}
	return next
}

// item is an object as a binding shows it.
type item struct {
	object   *unstructured.Unstructured
	filtered bool
	result   any // of the filter
	whole    bool
}

// MarshalJSON implements json.Marshaler.
func (i item) MarshalJSON() ([]byte, error) { return json.Marshal(i.fields()) }

func (i item) fields() map[string]any {
	fields := map[string]any{}
	if i.whole {
		fields["object"] = i.object
	}
	if i.filtered {
		fields["filterResult"] = i.result
	}
	return fields
}

// items are the objects that a binding watches, by namespace and name.
func (c Cluster) items(k config.Kubernetes) ([]item, error) {
	var selected []item
	for _, o := range c {
		reason, err := c.unselected(k, o)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			continue
		}
		i, err := show(k, o)
		if err != nil {
			return nil, err
		}
		selected = append(selected, i)
	}
	slices.SortStableFunc(selected, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.object.GetNamespace(), b.object.GetNamespace()), cmp.Compare(a.object.GetName(), b.object.GetName()))
	})
	return selected, nil
}

// show runs the filter of the binding over an object.
func show(k config.Kubernetes, o *unstructured.Unstructured) (item, error) {
	i := item{object: o, whole: k.KeepsObjects(), filtered: k.JQFilter != ""}
	if !i.filtered {
		return i, nil
	}
	query, err := gojq.Parse(k.JQFilter)
	if err != nil {
		return i, err
	}
	content, err := json.Marshal(o)
	if err != nil {
		return i, err
	}
	var input any // with the types of numbers that jq knows
	if err := json.Unmarshal(content, &input); err != nil {
		return i, err
	}
	var results []any
	for iter := query.Run(input); ; {
		v, more := iter.Next()
		if !more {
			break
		}
		if err, failed := v.(error); failed {
			return i, fmt.Errorf("jqFilter of %s, over %s: %w", k.BindingName(), name(o), err)
		}
		results = append(results, v)
	}
	switch len(results) {
	case 0:
	case 1:
		i.result = results[0]
	default:
		i.result = results
	}
	return i, nil
}

// unselected tells why a binding does not watch an object, or "".
func (c Cluster) unselected(k config.Kubernetes, o *unstructured.Unstructured) (reason string, err error) {
	if !isKind(k.Kind, o.GetKind()) || k.APIVersion != "" && k.APIVersion != o.GetAPIVersion() {
		return fmt.Sprintf("it watches %s", strings.TrimSpace(k.APIVersion+" "+k.Kind)), nil
	}
	if s := k.NameSelector; s != nil && len(s.MatchNames) > 0 && !slices.Contains(s.MatchNames, o.GetName()) {
		return "it selects " + strings.Join(s.MatchNames, ", ") + " by name", nil
	}
	if ok, err := matches(k.LabelSelector, o); err != nil || !ok {
		return "its labelSelector does not match", err
	}
	if s := k.FieldSelector; s != nil {
		for _, e := range s.MatchExpressions {
			value, known := fieldOf(o, e.Field)
			if !known {
				return "", fmt.Errorf("fieldSelector of %s: which objects have %s is known to an API server only", k.BindingName(), e.Field)
			}
			if unequal := e.Operator == "!=" || e.Operator == "NotEquals"; (value == e.Value) == unequal {
				return "its fieldSelector does not match", nil
			}
		}
	}
	return c.outside(k.Namespace, o)
}

// outside tells why the namespace of an object is not selected, or "".
func (c Cluster) outside(s *config.NamespaceSelector, o *unstructured.Unstructured) (reason string, err error) {
	if s == nil {
		return "", nil
	}
	if n := s.NameSelector; n != nil && len(n.MatchNames) > 0 && !slices.Contains(n.MatchNames, o.GetNamespace()) {
		return "it selects the namespaces " + strings.Join(n.MatchNames, ", "), nil
	}
	if s.LabelSelector == nil {
		return "", nil
	}
	for _, ns := range c {
		if ns.GetKind() == "Namespace" && ns.GetName() == o.GetNamespace() {
			if ok, err := matches(s.LabelSelector, ns); err != nil || ok {
				return "", err
			}
		}
	}
	return fmt.Sprintf("its namespace selector matches no labels of the namespace %q", o.GetNamespace()), nil
}

func matches(s *metav1.LabelSelector, o *unstructured.Unstructured) (bool, error) {
	if s == nil {
		return true, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(o.GetLabels())), err
}

// fieldOf is the value of a field that every kind can be selected by.
func fieldOf(o *unstructured.Unstructured, field string) (value string, known bool) {
	switch field {
	case "metadata.name":
		return o.GetName(), true
	case "metadata.namespace":
		return o.GetNamespace(), true
	}
	return "", false
}

// isKind reports whether a kind is meant by what a binding calls it: its name,
// its plural or a short name, in any case.
func isKind(called, kind string) bool {
	called, kind = strings.ToLower(called), strings.ToLower(kind)
	return called == kind || called == flect.Pluralize(kind) || shortNames[called] == kind
}

// shortNames are those that every cluster knows.
var shortNames = map[string]string{
	"cm": "configmap", "cs": "componentstatus", "crd": "customresourcedefinition", "crds": "customresourcedefinition", "cj": "cronjob",
	"deploy": "deployment", "ds": "daemonset", "ep": "endpoints", "ev": "event", "hpa": "horizontalpodautoscaler", "ing": "ingress",
	"limits": "limitrange", "netpol": "networkpolicy", "no": "node", "ns": "namespace", "pc": "priorityclass", "pdb": "poddisruptionbudget",
	"po": "pod", "pv": "persistentvolume", "pvc": "persistentvolumeclaim", "quota": "resourcequota", "rc": "replicationcontroller",
	"rs": "replicaset", "sa": "serviceaccount", "sc": "storageclass", "sts": "statefulset", "svc": "service",
}

func name(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}
