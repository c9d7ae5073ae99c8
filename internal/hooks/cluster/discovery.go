package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/hooks/kubeapi"
)

// discovery is the Accept header for aggregated discovery, which API servers support
// since Kubernetes 1.27 (kubernetes.io/docs/concepts/overview/kubernetes-api).
const discovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

type groupList struct {
	Kind  string
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version   string
			Resources []resource
		}
	}
}

type resource struct {
	Resource         string
	ResponseKind     struct{ Kind string }
	Scope            string
	SingularResource string
	Verbs            []string
	ShortNames       []string
	Categories       []string
	Subresources     []struct{ Subresource string }
}

// discovered caches the kinds of an API server.
type discovered struct {
	mu    sync.Mutex
	known *kubeapi.Kinds // nil before the first request
}

// Kind finds a kind of this API server as kubeapi.Kinds.Find does. If the kind is
// unknown, Kind repeats discovery, because its CRD may be new.
func (c *Cluster) Kind(ctx context.Context, apiVersion, name string) (kubeapi.Kind, error) {
	table, fresh, err := c.table(ctx)
	if err != nil {
		return kubeapi.Kind{}, err
	}
	k, err := table.Find(apiVersion, name)
	if err == nil || fresh {
		return k, err
	}
	c.ResetDiscovery()
	if table, _, err = c.table(ctx); err != nil {
		return kubeapi.Kind{}, err
	}
	return table.Find(apiVersion, name)
}

// Kinds returns all kinds of the API server, as of the last discovery.
func (c *Cluster) Kinds(ctx context.Context) (*kubeapi.Kinds, error) {
	table, _, err := c.table(ctx)
	return table, err
}

// ResetDiscovery drops the cached kinds, so that the next use repeats discovery.
func (c *Cluster) ResetDiscovery() {
	c.kinds.mu.Lock()
	c.kinds.known = nil
	c.kinds.mu.Unlock()
}

func (c *Cluster) table(ctx context.Context) (table *kubeapi.Kinds, fresh bool, err error) {
	c.kinds.mu.Lock()
	defer c.kinds.mu.Unlock()
	if c.kinds.known != nil {
		return c.kinds.known, false, nil
	}
	var all []kubeapi.Kind
	for _, path := range []string{"/api", "/apis"} {
		var groups groupList
		if err := c.get(ctx, path, discovery, &groups); err != nil {
			return nil, false, fmt.Errorf("discover the kinds of the API server: %w", err)
		}
		if groups.Kind != "APIGroupDiscoveryList" {
			return nil, false, fmt.Errorf("the API server does not support aggregated discovery; Kubernetes 1.27 or later is required")
		}
		all = append(all, groups.kinds()...)
	}
	c.kinds.known = kubeapi.NewKinds(all)
	return c.kinds.known, true, nil
}

func (g groupList) kinds() []kubeapi.Kind {
	var all []kubeapi.Kind
	for _, group := range g.Items {
		versions := map[string][]string{}
		first := len(all)
		for _, v := range group.Versions {
			for _, r := range v.Resources {
				k := kubeapi.Kind{Group: group.Metadata.Name, Version: v.Version, Kind: r.ResponseKind.Kind,
					Resource: r.Resource, Singular: r.SingularResource,
					ShortNames: r.ShortNames, Categories: r.Categories, Verbs: slices.Sorted(slices.Values(r.Verbs)), Namespaced: r.Scope == "Namespaced"}
				for _, s := range r.Subresources {
					k.Subresources = append(k.Subresources, s.Subresource)
				}
				versions[k.Resource] = append(versions[k.Resource], k.Version)
				all = append(all, k)
			}
		}
		for i := first; i < len(all); i++ {
			all[i].Versions = versions[all[i].Resource]
		}
	}
	return all
}
