package gen_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/gentest"

	"github.com/google/go-cmp/cmp"
)

// TestSameAsControllerGen compares with controller-gen, which runs in a copy of the
// project with the same arguments.
func TestSameAsControllerGen(t *testing.T) {
	t.Parallel()
	const all = "paths=./..."
	tests := []struct {
		name string
		args string
	}{
		{"makefile", `rbac:roleName=manager-role crd webhook object:headerFile="hack/boilerplate.go.txt",year=2031 paths=./... output:crd:artifacts:config=config/crd/bases`},
		{"default places", "crd rbac:roleName=r object webhook " + all},
		{"short descriptions", "crd:maxDescLen=60,generateEmbeddedObjectMeta=true paths=./api/..."},
		{"headers", "crd:headerFile=hack/header.yaml.txt,year=1999 rbac:roleName=r,fileName=roles.yaml,headerFile=hack/header.yaml.txt webhook:headerFile=hack/header.yaml.txt,year=2 object:headerFile=hack/boilerplate.go.txt " + all},
		{"no version, no description", "crd:omitToolVersion=true,maxDescLen=0,crdVersions=v1,ignoreUnexportedFields=true,allowDangerousTypes=true paths=./api/..."},
		{"one version twice", "crd:crdVersions=v1;v1,deprecatedV1beta1CompatibilityPreserveUnknownFields=false,generateEmbeddedObjectMeta=false paths=./api/..."},
		{"one folder for all", "crd object rbac:roleName=r output:dir=out " + all},
		{"rules", "crd object rbac:roleName=r webhook output:crd:none output:rbac:stdout output:artifacts:config=cfg,code=code paths=./api/v1"},
		{"stdout", "crd rbac:roleName=r object output:stdout paths=./api/v1 paths=./internal/..."},
		{"stdout of several paths", "object output:stdout paths=./internal/... paths=./api/..."},
		{"patched manifests", "schemapatch:manifests=manifests,maxDescLen=0 output:dir=manifests paths=./api/..."},
		{"collisions", "object output:dir=out paths=./internal/... paths=./api/..."},
		{"braces and import paths", `crd object paths={./api/v2,./api/aqua/...} paths=example.com/zoo/internal/shared`},
		{"one package twice", "crd object paths=./api/v1;./api/v1 paths=./api/v1/..."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(tt.args)
			want, wantOut := gentest.ControllerGen(t, gentest.Zoo(t), args...)
			got, gotOut := gentest.Operon(t, gentest.Zoo(t), args)
			if diff := cmp.Diff(want, answers.Sums(got)); diff != "" {
				t.Errorf("files (-controller-gen +operon):\n%s", diff)
			}
			if diff := cmp.Diff(wantOut, answers.Short(gotOut)); diff != "" {
				t.Errorf("stdout (-controller-gen +operon):\n%s", diff)
			}
			if len(want) == 0 && wantOut == "" {
				t.Error("the case generates nothing")
			}
		})
	}
}

// TestOneLoadSameAsSeparateRuns checks that generators do not affect each other if they
// share one package graph (controller-tools#485).
func TestOneLoadSameAsSeparateRuns(t *testing.T) {
	t.Parallel()
	dir, want := gentest.Zoo(t), map[string]string{}
	runs := []string{"crd", "rbac:roleName=manager-role", "webhook", "object"}
	for _, g := range runs {
		files, _ := gentest.ControllerGen(t, dir, g, "paths=./...")
		maps.Copy(want, files)
	}
	got, _ := gentest.Operon(t, dir, append(runs, "paths=./..."))
	if diff := cmp.Diff(want, answers.Sums(got)); diff != "" {
		t.Errorf("(-separate +together):\n%s", diff)
	}
}

// TestNestedModules generates the kinds of a module below the root. controller-gen does so
// for file paths, but not for import paths.
func TestNestedModules(t *testing.T) {
	t.Parallel()
	for _, paths := range []string{"./...", "./sub/...", "./sub/api", "example.com/zoo/..."} {
		t.Run(paths, func(t *testing.T) {
			t.Parallel()
			args := []string{"crd", "object", "rbac:roleName=r", "paths=" + paths}
			dir := gentest.Zoo(t, nested)
			files := gentest.Tree(t, dir)
			gentest.WriteFile(t, dir+"/sub/go.mod", []byte(strings.Replace(files["go.mod"], "example.com/zoo", "example.com/sub", 1)))
			gentest.WriteFile(t, dir+"/sub/go.sum", []byte(files["go.sum"]))
			want, _ := gentest.ControllerGen(t, dir, args...)
			got, _ := gentest.Operon(t, dir, args)
			if diff := cmp.Diff(want, answers.Sums(got)); diff != "" {
				t.Errorf("(-controller-gen +operon):\n%s", diff)
			}
		})
	}
}

const nested = `
-- sub/api/bird.go --
// Package api has birds.
// +kubebuilder:object:generate=true
// +groupName=air.example.com
// +versionName=v1
package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:rbac:groups=air.example.com,resources=birds,verbs=get

// Bird flies.
// +kubebuilder:object:root=true
type Bird struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
}
`
