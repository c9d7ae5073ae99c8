package workload

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// deployment returns a Deployment with containers.
func deployment(t *testing.T, metadata string, containers ...string) Object {
	t.Helper()
	var object map[string]any
	src := "{kind: Deployment, metadata: " + metadata + ", spec: {template: {spec: {containers: [{name: " +
		strings.Join(containers, "}, {name: ") + "}]}}}}"
	if err := yaml.Unmarshal([]byte(src), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestManager(t *testing.T) {
	plain := deployment(t, "{name: web}", "app")
	for name, tc := range map[string]struct {
		object    Object
		container int
	}{
		"scaffolded":       {deployment(t, "{name: x-controller-manager}", "kube-rbac-proxy", "manager"), 1},
		"label":            {deployment(t, "{name: x, labels: {control-plane: controller-manager}}", "proxy", "x"), 1},
		"name":             {deployment(t, "{name: redis-operator}", "kube-rbac-proxy", "app"), 1},
		"container":        {deployment(t, "{name: x}", "side", "the-controller", "manager"), 2},
		"similar name":     {deployment(t, "{name: redis-operator}", "side", "the-controller"), 1},
		"unnamed fallback": {deployment(t, "{name: redis-operator}", "kube-rbac-proxy"), 0},
	} {
		i, err := Manager([]Object{plain, tc.object}, "config")
		if err != nil || i != 1 || tc.object.Container() != tc.container {
			t.Errorf("%s: object %d, container %d, %v", name, i, tc.object.Container(), err)
		}
	}
	if i, err := Manager([]Object{plain}, "config"); i != 0 || err != nil {
		t.Errorf("the only one: %d, %v", i, err)
	}
	_, err := Manager([]Object{plain, deployment(t, "{name: other}", "app")}, "config/default")
	if err == nil || err.Error() != "config/default installs Deployment web and Deployment other, and operon cannot tell which one runs the manager" {
		t.Error(err)
	}
}
