package cluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Item is an object of OLM, or of an operator that OLM installed.
type Item struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Kind      string `json:"kind"`
	Version   string `json:"version,omitempty"` // of the operator
	Status    string `json:"status"`            // words such as Succeeded; "" if the object has no state
	Message   string `json:"message,omitempty"` // why a catalog or an operator is not in the desired state
}

// Status is what a cluster has of OLM.
type Status struct {
	V0    bool   // the API group operators.coreos.com
	V1    bool   // the API group olm.operatorframework.io
	Items []Item // by kind and name
}

// statusKinds are the kinds of objects in a status.
var statusKinds = []resource{
	catalogSources, operatorGroups, subscriptions, installPlans, csvs, clusterCatalogs, clusterExtensions,
}

// The groups of the kinds of OLM.
const (
	groupV0 = "operators.coreos.com"
	groupV1 = "olm.operatorframework.io"
)

func olmV1(plural, kind string) resource {
	return resource{schema.GroupVersionResource{Group: groupV1, Version: "v1", Resource: plural}, kind}
}

var (
	clusterCatalogs   = olmV1("clustercatalogs", "ClusterCatalog")
	clusterExtensions = olmV1("clusterextensions", "ClusterExtension")
)

// Status reads what a cluster has of OLM: its CRDs, its Deployments, and objects of its kinds.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	all, err := c.list(ctx, crds, "", metav1.ListOptions{})
	if err != nil {
		return s, err
	}
	for _, o := range all {
		switch jsonvalue.String(o.Object, "spec", "group") {
		case groupV0:
			s.V0 = true
		case groupV1:
			s.V1 = true
		default:
			continue
		}
		s.add(crds, o)
	}
	if !s.V0 && !s.V1 {
		return s, nil
	}
	controllers, err := c.list(ctx, deployments, "", metav1.ListOptions{})
	if err != nil {
		return s, err
	}
	for _, o := range controllers {
		if isController(o.GetName()) {
			s.add(deployments, o)
		}
	}
	for _, r := range statusKinds {
		all, err := c.list(ctx, r, "", metav1.ListOptions{})
		if apierrors.IsForbidden(err) {
			c.Note("no permission to list objects of kind %s", r.kind)
			continue
		}
		if err != nil {
			return s, err
		}
		for _, o := range all {
			if !copied(o) {
				s.add(r, o)
			}
		}
	}
	return s, nil
}

// isController reports whether a Deployment has the name of a controller of OLM.
func isController(name string) bool {
	switch name {
	case "olm-operator", "catalog-operator", "packageserver", "operator-controller-controller-manager", "catalogd-controller-manager":
		return true
	}
	return false
}

func (s *Status) add(r resource, o unstructured.Unstructured) {
	i := Item{Name: o.GetName(), Namespace: o.GetNamespace(), Kind: r.kind, Status: stateOf(r, o.Object)}
	switch r {
	case csvs:
		i.Version = jsonvalue.String(o.Object, "spec", "version")
		if i.Status != "Succeeded" {
			i.Message = jsonvalue.String(o.Object, "status", "message")
		}
	case clusterExtensions:
		i.Namespace = jsonvalue.String(o.Object, "spec", "namespace") // of the operator
		i.Version = jsonvalue.String(o.Object, "status", "install", "bundle", "version")
		fallthrough
	case clusterCatalogs:
		if c := condition(o.Object, "Progressing"); c["reason"] != "Succeeded" {
			i.Message = jsonvalue.String(c, "message")
		}
	}
	s.Items = append(s.Items, i)
}

// stateOf returns the state of an object in a few words.
func stateOf(r resource, o map[string]any) string {
	switch r {
	case crds:
		if condition(o, "Established")["status"] == "True" {
			return "Established"
		}
		return "NotEstablished"
	case deployments:
		return fmt.Sprintf("%d/%d ready", jsonvalue.Int(o, "status", "readyReplicas"), jsonvalue.Int(o, "spec", "replicas"))
	case catalogSources:
		return jsonvalue.String(o, "status", "connectionState", "lastObservedState")
	case subscriptions:
		return jsonvalue.String(o, "status", "state")
	case clusterCatalogs, clusterExtensions:
		var words []string
		for _, name := range []string{"Installed", "Serving"} {
			if condition(o, name)["status"] == "True" {
				words = append(words, name)
			}
		}
		if reason := jsonvalue.String(condition(o, "Progressing"), "reason"); reason != "" && reason != "Succeeded" {
			words = append(words, reason)
		}
		return strings.Join(words, ", ")
	}
	return jsonvalue.String(o, "status", "phase")
}
