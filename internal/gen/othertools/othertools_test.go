package othertools

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen/request"
)

// TestAbsolute keeps folders outside the project that replace modules, from within a copy.
func TestAbsolute(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const before = "module m\n\nreplace (\n\ta => ../a\n\tb => ./b\n\tc v1.0.0 => d v1.1.0\n)\n"
	got := string(absolute([]byte(before), root, root))
	for _, want := range []string{"a => " + filepath.ToSlash(filepath.Join(filepath.Dir(root), "a")), "b => ./b", "c v1.0.0 => d v1.1.0"} {
		if !strings.Contains(filepath.ToSlash(got), want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if text := "no module"; string(absolute([]byte(text), root, root)) != text {
		t.Error("a file that is no go.mod changed")
	}
}

// TestGeneratorOf finds the generator of a file by its content.
func TestGeneratorOf(t *testing.T) {
	t.Parallel()
	job := &request.Job{Generators: []request.Generator{{Name: "rbac"}, {Name: "crd"}}}
	patch := &request.Job{Generators: []request.Generator{{Name: "schemapatch"}}}
	for _, tt := range []struct {
		job           *request.Job
		name, content string
		want          string
	}{
		{job, "api/v1/zz_generated.deepcopy.go", "package v1\n", "object"},
		{job, "config/rbac/role.yaml", "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n", "rbac"},
		{job, "config/webhook/manifests.yaml", "---\nkind: MutatingWebhookConfiguration\n", "webhook"},
		{job, "config/crd/bases/a.yaml", "---\nkind: CustomResourceDefinition\n", "crd"},
		{patch, "config/crd/bases/a.yaml", "---\nkind: CustomResourceDefinition\n", "schemapatch"},
	} {
		if got := generatorOf(tt.job, tt.name, []byte(tt.content)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
