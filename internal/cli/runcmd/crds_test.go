package runcmd

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/hooks/cluster"
)

// crd is a CRD as the API server and as the project has it. Its only field has a type.
const crd = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": %q}, "spec": {
"group": "example.org", "scope": "Namespaced", "names": {"kind": "Boat", "plural": "boats"}, "versions": [{"name": "v1", "served": true, "storage": true,
"schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": %q}}}}}]}}`

// TestCompareCRDs compares what make install would apply, patches included, with the answers of an API server.
func TestCompareCRDs(t *testing.T) {
	t.Parallel()
	const patch = `
patches:
- target: {name: boats.example.org}
  patch: '[{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/type", "value": "integer"}]'
`
	for name, tt := range map[string]struct {
		installed map[string]string // the type of the field by the name of the CRD, or a status of HTTP
		more      string            // of the kustomization
		want      string
	}{
		"equal":     {map[string]string{"boats.example.org": "string", "docks.example.org": "string"}, "", ""},
		"missing":   {map[string]string{"boats.example.org": "string"}, "", "the cluster has no CRD docks.example.org"},
		"both":      {map[string]string{"boats.example.org": "boolean"}, "", "the cluster has no CRD docks.example.org; the cluster has another schema of CRD boats.example.org"},
		"patched":   {map[string]string{"boats.example.org": "integer", "docks.example.org": "string"}, patch, ""},
		"unpatched": {map[string]string{"boats.example.org": "string", "docks.example.org": "string"}, patch, "the cluster has another schema of CRD boats.example.org"},
		"forbidden": {map[string]string{"boats.example.org": "403", "docks.example.org": "403"}, "", ""},
		"invalid":   {nil, "resources: [", ""},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name := path.Base(r.URL.Path)
			switch kind := tt.installed[name]; kind {
			case "":
				http.NotFound(w, r)
			case "403":
				http.Error(w, "forbidden", http.StatusForbidden)
			default:
				fmt.Fprintf(w, crd, name, kind)
			}
		}))
		root := t.TempDir()
		write(t, root, "kubeconfig", "{clusters: [{name: c, cluster: {server: '"+server.URL+"'}}], contexts: [{name: x, context: {cluster: c}}], current-context: x}")
		for _, name := range []string{"boats", "docks"} {
			write(t, root, "config/crd/bases/"+name+".yaml", fmt.Sprintf(crd, name+".example.org", "string"))
		}
		c, err := cluster.Open(cluster.ClientOptions{Kubeconfig: filepath.Join(root, "kubeconfig")}, os.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := compareCRDs(t.Context(), c, root); got.String() != "" {
			t.Errorf("%s: without a kustomization: %s", name, got)
		}
		write(t, root, "config/crd/kustomization.yaml", "resources: [bases/boats.yaml, bases/docks.yaml]\n"+tt.more)
		if got, _ := compareCRDs(t.Context(), c, root); got.String() != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		server.Close()
	}
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
