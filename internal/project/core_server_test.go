package project

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

// TestCoreKinds creates the objects of all kinds. A test of hooks/kubeapi compares the kinds with an API server.
func TestCoreKinds(t *testing.T) {
	t.Parallel()
	var objects []creation
	question := servertest.Question()
	for _, k := range CoreKinds() {
		if k.Stored {
			c := creation{creationPath(strings.TrimPrefix(k.Resource().QualifiedGroup()+"/"+k.Version, "/"), k), k.Object}
			objects, question.Parts = append(objects, c), append(question.Parts, c.path, c.object)
		}
	}
	type answer struct{ Rejected []string }
	server := answers.Ask(t, "core kinds", question, func() answer { return answer{apiServer{servertest.Start(t)}.create(objects)} })
	for _, message := range server.Rejected {
		t.Error(message)
	}
}

type apiServer struct{ servertest.Server }

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
