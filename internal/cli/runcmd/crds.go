package runcmd

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/kustomize"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// crdTimeout limits how long a slow cluster can delay the start of an operator for a warning.
	crdTimeout = 2 * time.Second
	// readyTimeout is how long an API server may take to serve a new CRD, or an operator to serve its webhooks.
	readyTimeout = 30 * time.Second
	// retryInterval is the pause between two requests for the same.
	retryInterval = 500 * time.Millisecond
)

// crds are the CRDs of a project that a cluster lacks, or has with another schema.
type crds struct{ missing, different []*unstructured.Unstructured }

// compareCRDs compares what make install would apply with a cluster. After an error, it compares the others.
func compareCRDs(ctx context.Context, c *cluster.Cluster, root string) (found crds, failed error) {
	all, err := built(root, "crd")
	if err != nil {
		return found, err
	}
	for _, o := range all {
		if !kubeapi.IsCRD(o.GroupVersionKind()) {
			continue
		}
		installed, err := c.CRD(ctx, o.GetName())
		switch {
		case apierrors.IsNotFound(err):
			found.missing = append(found.missing, o.Unstructured)
		case err != nil:
			failed = errors.Join(failed, fault.In("CRD "+o.GetName(), err))
		case !kubeapi.SameCRDVersions(o.Unstructured, installed):
			keepConversion(o.Unstructured, installed)
			found.different = append(found.different, o.Unstructured)
		}
	}
	return found, failed
}

// keepConversion keeps the conversion of an installed CRD that operon has directed to this machine.
func keepConversion(o, installed *unstructured.Unstructured) {
	conversion := jsonvalue.Map(installed.Object, "spec", "conversion")
	if jsonvalue.String(conversion, "webhook", "clientConfig", "url") != "" {
		jsonvalue.Map(o.Object, "spec")["conversion"] = conversion
	}
}

// built returns the objects of a folder of config, if it has a kustomization.
func built(root, name string) ([]kustomize.Object, error) {
	folder := filepath.Join("config", name)
	if !kustomize.HasKustomization(filepath.Join(root, folder)) {
		return nil, nil
	}
	result, err := kustomize.Build(root, folder, kustomize.Options{AnyPath: true})
	if err != nil {
		return nil, err
	}
	return result.Objects, nil
}

// String describes the differences, or is empty.
func (c crds) String() string {
	var parts []string
	if len(c.missing) > 0 {
		parts = append(parts, "the cluster has no CRD "+strings.Join(names(c.missing), ", "))
	}
	if len(c.different) > 0 {
		parts = append(parts, "the cluster has another schema of CRD "+strings.Join(names(c.different), ", "))
	}
	return strings.Join(parts, "; ")
}

func names(objects []*unstructured.Unstructured) (all []string) {
	for _, o := range objects {
		all = append(all, o.GetName())
	}
	return all
}

// apply installs the CRDs in a cluster, and waits until it serves them.
func (c crds) apply(ctx context.Context, to *cluster.Cluster) error {
	for _, o := range append(c.missing, c.different...) {
		if err := to.Apply(ctx, o); err != nil {
			return fault.In("apply CRD "+o.GetName(), err)
		}
	}
	for _, name := range names(c.missing) {
		if err := retry(ctx, func() error { return served(ctx, to, name) }); err != nil {
			return err
		}
	}
	to.ResetDiscovery()
	return nil
}

// served returns an error unless a cluster serves a CRD.
func served(ctx context.Context, c *cluster.Cluster, name string) error {
	crd, err := c.CRD(ctx, name)
	if err != nil {
		return err
	}
	for _, condition := range jsonvalue.Maps(crd.Object, "status", "conditions") {
		if condition["type"] == "Established" && condition["status"] == "True" {
			return nil
		}
	}
	return fault.Failed("kubectl describe crd "+name+" says why", "the cluster did not serve CRD %s within %s", name, readyTimeout)
}

// applySamples applies the objects in config/samples. Until the operator serves its webhooks, the API server cannot
// call them.
func applySamples(ctx context.Context, to *cluster.Cluster, root string) error {
	samples, err := built(root, "samples")
	for _, o := range samples {
		err = errors.Join(err, fault.In(o.File, retry(ctx, func() error { return to.Apply(ctx, o.Unstructured) })))
	}
	return err
}

// retry calls a function until it succeeds, or the API server refuses a request, at most for readyTimeout. It returns
// the last error.
func retry(ctx context.Context, try func() error) error {
	for end := time.Now().Add(readyTimeout); ; {
		err := try()
		if err == nil || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retryInterval):
		}
	}
}
