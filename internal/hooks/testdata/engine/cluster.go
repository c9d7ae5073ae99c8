package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	enginelog "github.com/deckhouse/deckhouse/pkg/log"
	objectpatch "github.com/flant/shell-operator/pkg/kube/object_patch"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// cluster is an API server that has all objects, accepts all other requests, and records them.
type cluster struct {
	kubernetes.Interface
	client   dynamic.Interface
	requests []string
	deleted  bool // the last request deleted an object
}

func newCluster() *cluster {
	c := &cluster{}
	server := httptest.NewServer(c)
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		panic(err)
	}
	c.client = client
	return c
}

// Dynamic implements objectpatch.KubeClient.
func (c *cluster) Dynamic() dynamic.Interface { return c.client }

// GroupVersionResource implements objectpatch.KubeClient.
func (c *cluster) GroupVersionResource(apiVersion, kind string) (schema.GroupVersionResource, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if kind == "" {
		return schema.GroupVersionResource{}, errors.New("the kind is missing")
	}
	if gv.Version == "" {
		gv.Version = "v1"
	}
	return gv.WithResource(strings.ToLower(kind) + "s"), err
}

// ServeHTTP implements http.Handler.
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.requests = append(c.requests, fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, body))
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodPost:
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409}`)
	case r.Method == http.MethodGet && c.deleted:
		c.deleted = false
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	default:
		c.deleted = r.Method == http.MethodDelete
		fmt.Fprint(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"there","namespace":"default","resourceVersion":"7"},"data":{"k":"v"}}`)
	}
}

// execute executes the operations of a patch file, and returns the requests to the API server.
func (c *cluster) execute(text string) (any, error) {
	ops, err := objectpatch.ParseOperations([]byte(text))
	if err != nil {
		return nil, err
	}
	c.requests, c.deleted = nil, false
	err = objectpatch.NewObjectPatcher(c, enginelog.NewNop()).ExecuteOperations(ops)
	return c.requests, err
}
