//go:build unix && testall

package interop

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/testkit/manifesttest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// sharedProject is a project that both tools work on.
type sharedProject struct {
	*testing.T
	dir         string
	kubebuilder peer
}

// step runs a command of one of the tools. After kubebuilder, operon generates:
// kubebuilder's make targets would download controller-gen.
func (x sharedProject) step(line string) {
	x.Helper()
	words := strings.Fields(line)
	before := x.project()
	switch words[0] {
	case "operon":
		x.operon(words[1:], "renamed", "watch-namespace", "foreign-chart") // edit reports these
	case "kubebuilder":
		if words[1] == "init" {
			x.kubebuilder.must(x.T, x.dir, append(words[1:], "--skip-go-version-check", "--fetch-deps=false")...)
			x.modules()
			return
		}
		if words[1] == "create" {
			words = append(words, "--make=false")
		}
		if slices.Contains(words, "helm.kubebuilder.io/v2-alpha") {
			x.generate(false)
			treetest.WriteFile(x.T, filepath.Join(x.dir, "dist/install.yaml"), x.installer())
		}
		x.kubebuilder.must(x.T, x.dir, words[1:]...)
		x.generate(slices.Contains(words, "--conversion"))
	case "OLDER":
		x.useSchemeBuilder()
		x.generate(false)
	}
	if len(words) > 1 && words[1] == "edit" { // which changes these
		delete(before, "namespaced")
		for _, r := range before["resources"].(map[string]any) {
			delete(r.(map[string]any), "path")
		}
	}
	if slices.Contains(words, "--output-dir") {
		delete(before["plugins"].(map[string]any), "helm.kubebuilder.io/v2-alpha")
	}
	if missing := missingKeys("", before, x.project()); len(missing) > 0 {
		x.Errorf("%s: PROJECT lost %v", line, missing)
	}
	if before == nil {
		return // after init
	}
	x.kustomize()
}

// operon runs a command. It may report findings of known rules only. One is about kubebuilder v4.15: it pins another version
// of controller-tools.
func (x sharedProject) operon(args []string, known ...string) {
	x.Helper()
	var report struct {
		Warnings []struct{ File, Rule, Message string }
	}
	if err := json.Unmarshal([]byte(operontest.Run(x.T, x.dir, append(args, "--output", "json")...)), &report); err != nil {
		x.Fatal(err)
	}
	for _, w := range report.Warnings {
		if w.Rule != "controller-tools-version" && !slices.Contains(known, w.Rule) {
			x.Errorf("operon %v warns: %v", args, w)
		}
	}
}

// generate does what kubebuilder leaves to make. kubebuilder marks the stored version of a
// kind only when it scaffolds the conversion; until then, no CRD can be generated. In operon's
// projects it leaves out the certificate of a conversion, which operon reports.
func (x sharedProject) generate(converts bool) {
	x.Helper()
	args, known := []string{"generate"}, []string{}
	if converts {
		known = append(known, "not-trusted")
	}
	versions, stored := map[string]int{}, map[string]int{} // by the file of the kind
	for name, content := range treetest.Read(x.T, filepath.Join(x.dir, "api")) {
		versions[path.Base(name)]++
		stored[path.Base(name)] += strings.Count(content, "// +kubebuilder:storageversion\n")
	}
	for kind, n := range versions {
		if strings.HasSuffix(kind, "_types.go") && n > 1 && stored[kind] == 0 {
			args = append(args, "--only", "object")
		}
	}
	x.operon(args, known...)
}

// modules writes the go.mod and go.sum that kubebuilder would download.
func (x sharedProject) modules() {
	x.Helper()
	ours := x.TempDir()
	operontest.Run(x.T, ours, "init", "--domain", "example.org", "--repo", "example.org/fleet")
	for _, name := range []string{"go.mod", "go.sum"} {
		treetest.WriteFile(x.T, filepath.Join(x.dir, name), treetest.ReadFile(x.T, filepath.Join(ours, name)))
	}
}

// project returns the content of PROJECT, with the resources by name.
func (x sharedProject) project() map[string]any {
	x.Helper()
	name := filepath.Join(x.dir, project.File)
	if matches, err := filepath.Glob(name); err != nil || len(matches) == 0 {
		return nil
	}
	if _, err := project.Parse([]byte(treetest.ReadFile(x.T, name))); err != nil {
		x.Fatal(err)
	}
	all := manifesttest.ReadYAML(x.T, name).(map[string]any)
	resources := map[string]any{}
	list, _ := all["resources"].([]any)
	for _, item := range list {
		r := item.(map[string]any)
		resources[fmt.Sprint(r["group"], "/", r["version"], " ", r["kind"])] = r
	}
	all["resources"] = resources
	return all
}

// missingKeys lists the values of before that after lacks, by dotted path. "controller: true"
// and a list of controllers are equivalent.
func missingKeys(path string, before, after any) []string {
	old, ok := before.(map[string]any)
	if !ok {
		if cmp.Equal(before, after) {
			return nil
		}
		if list, ok := before.([]any); ok {
			have, _ := after.([]any)
			if !slices.ContainsFunc(list, func(item any) bool {
				return !slices.ContainsFunc(have, func(other any) bool { return cmp.Equal(item, other) })
			}) {
				return nil
			}
		}
		return []string{fmt.Sprintf("%s: %v became %v", path, before, after)}
	}
	next, _ := after.(map[string]any)
	var all []string
	for key, value := range old {
		if key == "controller" && next["controllers"] != nil {
			continue
		}
		all = append(all, missingKeys(path+"."+key, value, next[key])...)
	}
	return all
}

// useSchemeBuilder rewrites the package v1 so that kinds register with controller-runtime's scheme
// builder.
func (x sharedProject) useSchemeBuilder() {
	x.Helper()
	treetest.WriteFile(x.T, filepath.Join(x.dir, "api/v1/groupversion_info.go"), `// Package v1 is version 1 of the API group ship.
// +kubebuilder:object:generate=true
// +groupName=ship.example.org
package v1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	GroupVersion  = schema.GroupVersion{Group: "ship.example.org", Version: "v1"}
	SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}
	AddToScheme   = SchemeBuilder.AddToScheme
)
`)
	name := filepath.Join(x.dir, "api/v1/frigate_types.go")
	types, _, _ := strings.Cut(treetest.ReadFile(x.T, name), "func init() {")
	types = strings.Replace(types, "\"k8s.io/apimachinery/pkg/runtime\"\n", "", 1)
	treetest.WriteFile(x.T, name, types+"func init() {\n\tSchemeBuilder.Register(&Frigate{}, &FrigateList{})\n}\n")
}

// kustomize builds what `make deploy` installs.
func (x sharedProject) kustomize() {
	x.Helper()
	for _, object := range manifesttest.Kustomize(x.T, filepath.Join(x.dir, "config/default")).Resources() {
		if !strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
			continue
		}
		if ca := object.GetAnnotations()["cert-manager.io/inject-ca-from"]; ca != "fleet-system/fleet-serving-cert" {
			x.Errorf("%s %s trusts the certificate %q", object.GetKind(), object.GetName(), ca)
		}
	}
}
