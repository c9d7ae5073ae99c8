package project

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

// TestCoreKinds compares the table with the kinds of an API server, and creates the objects.
func TestCoreKinds(t *testing.T) {
	t.Parallel()
	s := apiServer{servertest.Start(t)}
	var served, listed []string
	for _, group := range s.groupVersions() {
		if group == "apiregistration.k8s.io/v1" {
			continue // see coreGroups
		}
		for _, r := range s.resources(group) {
			served = append(served, fmt.Sprintf("%s %s %s namespaced=%t stored=%t", group, r.Kind, r.Name, r.Namespaced, slices.Contains(r.Verbs, "watch")))
		}
	}
	for _, k := range CoreKinds() {
		group := strings.TrimPrefix(k.Resource().QualifiedGroup()+"/"+k.Version, "/")
		listed = append(listed, fmt.Sprintf("%s %s %s namespaced=%t stored=%t", group, k.Kind, k.Plural, k.Namespaced, k.Stored))
	}
	slices.Sort(served)
	slices.Sort(listed)
	if diff := cmp.Diff(served, listed); diff != "" {
		t.Errorf("the table differs from the API server (-server +table):\n%s", diff)
	}
	for _, k := range CoreKinds() {
		if k.Stored {
			s.create(k)
		}
	}
}

type apiServer struct{ servertest.Server }

// groupVersions returns all group versions of the server; that of the core group is v1.
func (s apiServer) groupVersions() []string {
	s.Helper()
	all := []string{"v1"}
	for _, g := range s.Groups() {
		for _, v := range g.Versions {
			all = append(all, v.GroupVersion)
		}
	}
	return all
}

type servedResource struct {
	Name, Kind string
	Namespaced bool
	Verbs      []string
}

// resources returns the resources of a group version without subresources.
func (s apiServer) resources(groupVersion string) []servedResource {
	s.Helper()
	var list struct{ Resources []servedResource }
	s.Get(servertest.Root(groupVersion), &list)
	return slices.DeleteFunc(list.Resources, func(r servedResource) bool { return strings.Contains(r.Name, "/") })
}

// create creates the object of a kind with the strict validation of kubectl apply.
func (s apiServer) create(k CoreKind) {
	s.Helper()
	path := servertest.Root(strings.TrimPrefix(k.Resource().QualifiedGroup()+"/"+k.Version, "/"))
	if k.Namespaced {
		path += "/namespaces/default"
	}
	path += "/" + k.Plural + "?fieldValidation=Strict"
	if code, content, err := s.Request(http.MethodPost, path, k.Object); err != nil || code != http.StatusCreated {
		var status struct{ Message string }
		_ = json.Unmarshal(content, &status)
		// Two versions of a kind have the same object.
		if !strings.Contains(status.Message, "already exists") {
			s.Errorf("POST %s: %v %d %s\n%s", path, err, code, status.Message, k.Object)
		}
	}
}
