package kubeapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Selectable returns the fields that field selectors for k support, in addition to name and
// namespace: the fixed fields of a builtin kind, or the selectableFields of a CRD.
func (k Kind) Selectable() []string {
	return append(slices.Clone(selectable[k.GVR().GroupResource()]), k.Fields...)
}

// Field returns the value of a field as field selectors compare it. supported reports whether
// field selectors for k support the field.
func (k Kind) Field(o *unstructured.Unstructured, name string) (value string, supported bool) {
	switch name {
	case "metadata.name":
		return o.GetName(), true
	case "metadata.namespace":
		return o.GetNamespace(), k.Namespaced || k.Group != "" || k.Resource != "namespaces"
	}
	if !slices.Contains(k.Selectable(), name) {
		return "", false
	}
	v, exists, err := unstructured.NestedFieldNoCopy(o.Object, strings.Split(name, ".")...)
	if !exists || err != nil || v == nil {
		return defaultFields[name], true
	}
	return fmt.Sprint(v), true
}

// defaultFields has the values of absent fields, unless they are "".
var defaultFields = map[string]string{
	"spec.unschedulable": "false", "spec.hostNetwork": "false", "status.replicas": "0", "status.successful": "0",
}

// CannotSelect returns the reason why a binding cannot select objects of a kind by a
// field. It returns "" if it can, or if the kind is unknown.
func (known *Kinds) CannotSelect(apiVersion, kind, field string) string {
	k, err := known.Find(apiVersion, kind)
	if err != nil || field == "metadata.name" || field == "metadata.namespace" {
		return ""
	}
	supported := append([]string{"metadata.name", "metadata.namespace"}, k.Selectable()...)
	if slices.Contains(supported, field) {
		return ""
	}
	return fmt.Sprintf("field selectors for %s do not support %s, only %s%s", k.Resource, field, strings.Join(supported, ", "), fault.DidYouMean(field, supported))
}

// selectable has the fields that field selectors for builtin kinds support, by group and
// resource.
var selectable = map[schema.GroupResource][]string{
	{Resource: "pods"}: {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
		"status.phase", "status.podIP", "status.nominatedNodeName"},
	{Resource: "events"}: {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
		"reason", "reportingComponent", "source", "type"},
	{Resource: "secrets"}:                    {"type"},
	{Resource: "namespaces"}:                 {"status.phase"},
	{Resource: "nodes"}:                      {"spec.unschedulable"},
	{Resource: "services"}:                   {"spec.clusterIP", "spec.type"},
	{Resource: "replicationcontrollers"}:     {"status.replicas"},
	{Group: "apps", Resource: "replicasets"}: {"status.replicas"},
	{Group: "batch", Resource: "jobs"}:       {"status.successful"},
	{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}: {"spec.signerName"},
}
