package project

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

// TestCoreKinds compares the table with the kinds of an API server, and creates the objects.
func TestCoreKinds(t *testing.T) {
	t.Parallel()
	var listed []string
	var objects []creation
	question := servertest.Question()
	for _, k := range CoreKinds() {
		group := strings.TrimPrefix(k.Resource().QualifiedGroup()+"/"+k.Version, "/")
		listed = append(listed, fmt.Sprintf("%s %s %s namespaced=%t stored=%t", group, k.Kind, k.Plural, k.Namespaced, k.Stored))
		if k.Stored {
			c := creation{creationPath(group, k), k.Object}
			objects, question.Parts = append(objects, c), append(question.Parts, c.path, c.object)
		}
	}
	type kinds struct{ Served, Rejected []string }
	server := answers.Ask(t, "core kinds", question, func() kinds {
		s := apiServer{servertest.Start(t)}
		return kinds{s.kinds(), s.create(objects)}
	})
	slices.Sort(listed)
	if diff := cmp.Diff(server.Served, listed); diff != "" {
		t.Errorf("the table differs from the API server (-server +table):\n%s", diff)
	}
	for _, message := range server.Rejected {
		t.Error(message)
	}
}

type apiServer struct{ servertest.Server }

// kinds lists the kinds of all group versions; that of the core group is v1.
func (s apiServer) kinds() []string {
	s.Helper()
	groups := []string{"v1"}
	for _, g := range s.Groups() {
		for _, v := range g.Versions {
			groups = append(groups, v.GroupVersion)
		}
	}
	var served []string
	for _, group := range groups {
		if group == "apiregistration.k8s.io/v1" {
			continue // see coreGroups
		}
		for _, r := range s.resources(group) {
			served = append(served, fmt.Sprintf("%s %s %s namespaced=%t stored=%t", group, r.Kind, r.Name, r.Namespaced, slices.Contains(r.Verbs, "watch")))
		}
	}
	slices.Sort(served)
	return served
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

// creation is a request that creates an object.
type creation struct{ path, object string }

// creationPath returns the path of a request that creates an object with the strict validation of kubectl apply.
func creationPath(groupVersion string, k CoreKind) string {
	path := servertest.Root(groupVersion)
	if k.Namespaced {
		path += "/namespaces/default"
	}
	return path + "/" + k.Plural + "?fieldValidation=Strict"
}

// create creates objects, and returns why the server rejected some.
func (s apiServer) create(objects []creation) (rejected []string) {
	s.Helper()
	for _, c := range objects {
		if code, content, err := s.Request(http.MethodPost, c.path, c.object); err != nil || code != http.StatusCreated {
			var status struct{ Message string }
			_ = json.Unmarshal(content, &status)
			// Two versions of a kind have the same object.
			if !strings.Contains(status.Message, "already exists") {
				rejected = append(rejected, fmt.Sprintf("POST %s: %v %d %s\n%s", c.path, err, code, status.Message, c.object))
			}
		}
	}
	return rejected
}
