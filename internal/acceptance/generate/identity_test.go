//go:build unix && testall

package generate

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/corpus"
	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/modtest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestIdentity compares operon with controller-gen on golden projects, public modules and
// generated modules, in each state of the cache: empty; full, without generated files; full,
// without a change; full, after an edit of a type.
func TestIdentity(t *testing.T) {
	t.Parallel()
	dangerous := maps.Clone(defaultArguments)
	dangerous["crd"], dangerous["object"] = "crd:allowDangerousTypes=true", "object"
	oneFolder := maps.Clone(dangerous)
	oneFolder["output"] = "output:dir=testdata/out" // packages write to the same file there, which is in no package
	crds := map[string]string{"crd": "crd", "paths": "paths=./...", "output": defaultArguments["output"]}
	projects := map[string]struct{ files, args map[string]string }{
		"kind":  {corpusFiles(t, 1), defaultArguments},
		"kinds": {corpusFiles(t, 50), defaultArguments},

		"prometheus-operator": {moduleFiles(t, modtest.Monitoring, "."), dangerous},
		"cluster-api":         {moduleFiles(t, modtest.ClusterAPI, "."), dangerous},
		"gateway-api":         {moduleFiles(t, modtest.GatewayAPI, "apis"), dangerous},
		"one output folder":   {moduleFiles(t, modtest.GatewayAPI, "apis"), oneFolder},
		"kueue":               {moduleFiles(t, modtest.Kueue, "apis", "pkg/features", "pkg/resources", "pkg/util/math", "pkg/util/tas"), dangerous},
		"cert-manager":        {moduleFiles(t, modtest.CertManager, "pkg/apis"), crds}, // the generator object refuses an interface in it
	}
	for _, name := range goldentest.Names(t) {
		if _, err := os.Stat(filepath.Join(goldentest.Dir(name), "api")); err == nil { // otherwise it has no Go types
			projects[name] = struct{ files, args map[string]string }{goldenSources(t, name), defaultArguments}
		}
	}
	for name, p := range projects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := editedProjectOf(t, 1, p.files, p.args)
			e.peer = peertest.Find(t, "controller-gen")
			e.identity()
		})
	}
}

// identity compares in each state of the cache.
func (e *editedProject) identity() {
	e.Helper()
	e.check()
	if e.passed != 1 {
		e.Fatal("controller-gen has errors")
	}
	generated := e.outputs()
	if len(generated) == 0 {
		e.Fatal("nothing was generated")
	}
	for name := range generated {
		e.must(os.Remove(e.path(name)))
	}
	e.check()
	e.repeat(2, e.operon(e.dir, e.cached()))

	before := maps.Clone(e.files)
	file, at := e.find(specLine)
	e.splice(file, at[1], at[1], "\t// Extra is one more.\n\tExtra map[string]int32 `json:\"extraOne,omitempty\"`\n")
	e.write(before)
	e.check()
	if maps.Equal(generated, e.outputs()) {
		e.Errorf("an edit of %s does not change the generated files", file)
	}
}

var specLine = regexp.MustCompile(`(?m)^type \w+Spec struct \{\n`)

// goldenSources returns the files of a golden project that are not generated, and apply configurations,
// without which its controllers do not compile.
func goldenSources(t *testing.T, name string) map[string]string {
	t.Helper()
	tree := treetest.Read(t, goldentest.Dir(name))
	var record struct{ Files map[string]any }
	if err := json.Unmarshal([]byte(tree[".operon/generated.json"]), &record); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, content := range tree {
		name = strings.TrimSuffix(name, "*")
		_, generated := record.Files[name]
		generated = generated && !strings.Contains(name, "/applyconfiguration/")
		if !generated && !strings.HasPrefix(name, ".operon/") {
			files["project/"+name] = content
		}
	}
	return files
}

// corpusFiles returns a generated module with the requirements of a scaffolded project.
func corpusFiles(t *testing.T, kinds int) map[string]string {
	t.Helper()
	sources, err := corpus.Files(kinds)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"project/PROJECT": anyProject}
	for name, content := range sources {
		files["project/"+name] = string(content)
	}
	fleet := goldentest.Dir("fleet")
	files["project/go.mod"] = strings.Replace(treetest.ReadFile(t, filepath.Join(fleet, "go.mod")), "module example.org/fleet", "module "+corpus.Repo, 1)
	files["project/go.sum"] = treetest.ReadFile(t, filepath.Join(fleet, "go.sum"))
	return files
}

const anyProject = "domain: example.org\nlayout:\n- go.kubebuilder.io/v4\nprojectName: any\nrepo: example.org/any\nversion: \"3\"\n"

// moduleFiles returns folders of a public module as a project.
func moduleFiles(t *testing.T, version string, folders ...string) map[string]string {
	t.Helper()
	from := modtest.Dir(t, version)
	files := map[string]string{"project/PROJECT": anyProject}
	for _, name := range []string{"go.mod", "go.sum"} {
		files["project/"+name] = treetest.ReadFile(t, filepath.Join(from, name))
	}
	for _, folder := range folders {
		err := fs.WalkDir(os.DirFS(from), folder, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasPrefix(path.Base(name), "zz_generated.deepcopy") {
				files["project/"+name] = treetest.ReadFile(t, filepath.Join(from, name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
