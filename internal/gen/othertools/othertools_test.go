package othertools

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
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

// TestFailed tells why the go command does not run a version.
func TestFailed(t *testing.T) {
	t.Parallel()
	const at = "go: sigs.k8s.io/controller-tools/cmd/controller-gen@v: sigs.k8s.io/controller-tools/cmd/controller-gen@v: "
	for _, tt := range []struct{ version, message, want, hint string }{
		{"v9.9.9", at + "reading https://proxy.example.org/...v9.9.9.info: 404 Not Found\n\tserver response: not found", "controller-tools has no version v9.9.9, or GOPROXY does not serve it", "releases"},
		{"v9.9.9", at + "invalid version: unknown revision v9.9.9", "controller-tools has no version v9.9.9, or GOPROXY does not serve it", "releases"},
		{"v0.20.0", at + "module lookup disabled by GOPROXY=off", "cannot download controller-tools v0.20.0: module lookup disabled by GOPROXY=off", "the go command downloads it once"},
		{"v0.16.2", "# golang.org/x/tools/internal/tokeninternal\n/cache/golang.org/x/tools@v0.24.0/a.go:64:9: invalid array length -delta * delta",
			"controller-tools v0.16.2 does not build with Go 1.25 and later versions", "operon generate --controller-tools v0.16.4;"},
		{"v0.20.0", "api/v1/a.go:1:1: expected 'package'", "go run P: api/v1/a.go:1:1: expected 'package'", "--controller-tools operon"},
	} {
		program := "sigs.k8s.io/controller-tools/cmd/controller-gen@v"
		err := (&Tools{version: tt.version}).failed(program, tt.message)
		if got := strings.ReplaceAll(err.Error(), program, "P"); got != tt.want || !strings.Contains(fault.HintOf(err), tt.hint) {
			t.Errorf("%q: got %q, hint %q", tt.message, got, fault.HintOf(err))
		}
	}
}
