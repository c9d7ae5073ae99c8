package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/internal/jsonvalue"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Item is an object of OLM, or of an operator that OLM installed.
type Item struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Kind      string `json:"kind"`
	Version   string `json:"version,omitempty"` // of the operator
	Status    string `json:"status"`            // words such as Succeeded; "" if the object has no state
	Message   string `json:"message,omitempty"` // why an operator is not in the desired state
}

// Status returns what a cluster has of OLM, by kind: its CRDs, its Deployments, and objects of its kinds.
func (c *Client) Status(ctx context.Context) (items []Item, err error) {
	all, err := c.list(ctx, crds, "", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if isOLMCRD(o) {
			items = append(items, itemOf(crds, o))
		}
	}
	if len(items) == 0 {
		return nil, nil
	}
	controllers, err := c.list(ctx, deployments, "", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, o := range controllers {
		if slices.Contains([]string{"olm-operator", "catalog-operator", "packageserver"}, o.GetName()) {
			items = append(items, itemOf(deployments, o))
		}
	}
	for _, r := range []resource{catalogSources, operatorGroups, subscriptions, installPlans, csvs} {
		all, err := c.list(ctx, r, "", metav1.ListOptions{})
		if apierrors.IsForbidden(err) {
			c.Note("no permission to list objects of kind %s", r.kind)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, o := range all {
			if !copied(o) {
				items = append(items, itemOf(r, o))
			}
		}
	}
	return items, nil
}

func itemOf(r resource, o unstructured.Unstructured) Item {
	i := Item{Name: o.GetName(), Namespace: o.GetNamespace(), Kind: r.kind, Status: stateOf(r, o.Object)}
	if r == csvs {
		i.Version = jsonvalue.String(o.Object, "spec", "version")
		if i.Status != "Succeeded" {
			i.Message = jsonvalue.String(o.Object, "status", "message")
		}
	}
	return i
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
	}
	return jsonvalue.String(o, "status", "phase")
}
