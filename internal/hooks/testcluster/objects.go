package testcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

var crdKind = kubeapi.Kind{
	Group: "apiextensions.k8s.io", Version: "v1",
	Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions",
}

// define installs CRDs and waits until their kinds are served.
func (s *Backend) define(ctx context.Context, crds []*unstructured.Unstructured) error {
	for _, crd := range crds {
		if err := s.put(ctx, crd); err != nil {
			return err
		}
	}
	if len(crds) > 0 {
		s.manager.stop() // it must know their kinds when it starts again
		s.admin.ResetDiscovery()
	}
	for _, crd := range crds {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
		err := until(ctx, "CustomResourceDefinition "+crd.GetName()+" is not served", func() (bool, error) {
			table, err := s.admin.Kinds(ctx)
			if err != nil {
				return false, err
			}
			k, known := table.FindResource(group, plural)
			if !known {
				s.admin.ResetDiscovery()
				return false, nil
			}
			_, err = s.admin.List(ctx, k, "", metav1.ListOptions{Limit: 1})
			return err == nil, nil
		})
		if err != nil {
			return err
		}
		if err := s.age(ctx, crd.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// age makes a CRD older. The API server waits two seconds before it creates an object of a CRD that was established less
// than two seconds ago, in case other API servers do not know the CRD yet.
func (s *Backend) age(ctx context.Context, name string) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		crd, err := s.admin.Get(ctx, crdKind, "", name)
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
		for _, c := range conditions {
			c.(map[string]any)["lastTransitionTime"] = crd.GetCreationTimestamp().Add(-time.Minute).UTC().Format(time.RFC3339)
		}
		if err := unstructured.SetNestedSlice(crd.Object, conditions, "status", "conditions"); err != nil {
			return err
		}
		_, err = s.admin.Update(ctx, crdKind, crd, "status")
		return err
	})
}

// put creates or updates an object, including its status. It tries again if a controller, such as the
// one for CRDs in the API server, has changed the object meanwhile.
func (s *Backend) put(ctx context.Context, o *unstructured.Unstructured) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return s.tryPut(ctx, o) })
}

func (s *Backend) tryPut(ctx context.Context, o *unstructured.Unstructured) error {
	k, err := s.admin.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	wanted := o.DeepCopy()
	wanted.SetResourceVersion("")
	wanted.SetUID("")
	if !k.Namespaced {
		wanted.SetNamespace("")
	}
	made, err := s.admin.Create(ctx, k, wanted)
	if exists(err) {
		existing, failed := s.admin.Get(ctx, k, wanted.GetNamespace(), wanted.GetName())
		if failed != nil {
			return failed
		}
		wanted.SetResourceVersion(existing.GetResourceVersion())
		made, err = s.admin.Update(ctx, k, wanted, "")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name(o), err)
	}
	if status, has := wanted.Object["status"]; has && k.HasSubresource("status") {
		if err := s.putStatus(ctx, k, made, status); err != nil {
			return fmt.Errorf("status of %s: %w", name(o), err)
		}
	}
	return nil
}

// putStatus replaces the status of an object, also while controllers write to the object. An update could fail again and again:
// some controllers write after each update of the rest, such as those that taint a Node.
func (s *Backend) putStatus(ctx context.Context, k kubeapi.Kind, o *unstructured.Unstructured, status any) error {
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/status", "value": status}})
	if err != nil {
		return err
	}
	_, err = s.admin.Patch(ctx, k, o.GetNamespace(), o.GetName(), types.JSONPatchType, patch, "status")
	return err
}

func name(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

// until polls a condition, more and more rarely, until it is true. After a timeout it returns an error with
// the given failure.
func until(ctx context.Context, failure string, condition func() (bool, error)) error {
	limited, cancel := context.WithTimeoutCause(ctx, timeout, errors.New(failure+" within "+timeout.String()))
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, interval) {
		done, err := condition()
		if done || err != nil {
			return err
		}
		if err := kubeapi.Sleep(limited, wait); err != nil {
			return err
		}
	}
}
