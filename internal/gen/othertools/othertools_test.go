package othertools

import (
	"testing"

	"github.com/operon-dev/operon/internal/gen/request"
)

// TestGeneratorOf finds the generator of a file by its content.
func TestGeneratorOf(t *testing.T) {
	t.Parallel()
	job := &request.Job{Generators: []request.Generator{{Name: "rbac"}, {Name: "crd"}}}
	patch := &request.Job{Generators: []request.Generator{{Name: "schemapatch"}}}
	apply := &request.Job{Generators: []request.Generator{{Name: request.ApplyConfigurations}}}
	for _, tt := range []struct {
		job           *request.Job
		name, content string
		want          string
	}{
		{job, "api/v1/zz_generated.deepcopy.go", "package v1\n", "object"},
		{apply, "api/v1/applyconfiguration/utils.go", "package applyconfiguration\n", "applyconfiguration"},
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
