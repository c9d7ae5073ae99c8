package libraries

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/testkit/compattest"
	"github.com/operon-dev/operon/internal/testkit/goldentest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"github.com/spf13/afero"
	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

// TestNeeds type-checks the golden projects with the libraries of older projects. It expects needs to
// name what those lack, in each file that does not compile and in no other.
func TestNeeds(t *testing.T) {
	t.Parallel()
	all := compattest.Modules(t)
	for _, libraries := range all[:len(all)-1] { // they compile with the last ones
		t.Run(filepath.Base(libraries), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			joinGolden(t, dir)
			compattest.UseModules(t, dir, libraries)
			if line := alsoImported[filepath.Base(libraries)]; line != "" {
				name := filepath.Join(dir, modules.GoMod)
				treetest.WriteFile(t, name, treetest.ReadFile(t, name)+"\nrequire "+line+" // indirect\n")
			}
			checkNeeds(t, dir)
		})
	}
}

// joinGolden writes the golden projects in Go to folders of one module, so that their dependencies are
// type-checked once. It leaves out those with other direct requirements than new projects: the modules with
// older libraries do not have them.
func joinGolden(t *testing.T, dir string) {
	t.Helper()
	joined := 0
	for _, name := range goldentest.Names(t) {
		if !goldentest.IsGo(name) {
			continue
		}
		tree := treetest.Read(t, goldentest.Dir(name))
		mod, err := modfile.Parse(modules.GoMod, []byte(tree[modules.GoMod]), nil)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(mod.Require, func(r *modfile.Require) bool { return !r.Indirect && !isUsual.MatchString(r.Mod.Path) }) {
			continue
		}
		joined++
		old, path := strconv.Quote(mod.Module.Mod.Path+"/"), `"`+joinedModule+"/"+name+"/"
		for file, content := range tree {
			if filepath.Ext(file) == ".go" {
				treetest.WriteFile(t, filepath.Join(dir, name, file), strings.ReplaceAll(content, strings.TrimSuffix(old, `"`), path))
			}
		}
	}
	if joined < 4 {
		t.Fatalf("%d golden projects", joined)
	}
}

// joinedModule is the module in the module files with older libraries.
const joinedModule = "example.org/fleet"

// isUsual matches the modules that every project requires.
var isUsual = regexp.MustCompile(`^(k8s\.io|sigs\.k8s\.io|github\.com/onsi)/|^github\.com/go-logr/`)

// alsoImported are the modules that packages in the projects import, but none in the project with older
// libraries.
var alsoImported = map[string]string{
	"controller-runtime-0.17": "github.com/evanphx/json-patch v4.12.0+incompatible",
	"controller-runtime-0.19": "gopkg.in/evanphx/json-patch.v4 v4.12.0",
}

// checkNeeds compares needs with the errors of the compiler in the project.
func checkNeeds(t *testing.T, dir string) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(dir, modules.GoMod))
	if err != nil {
		t.Fatal(err)
	}
	have := versionsIn(src)
	key := append(peertest.Sources(t), "needs", runtime.Version(), runtime.GOARCH)
	tree := treetest.Read(t, dir)
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		key = append(key, name, tree[name])
	}
	// The go.sum in the tree fixes the libraries.
	result := peertest.Cached(t, key, func() (verdict, bool) { return typeCheck(t, dir), true })
	broken := result.Broken
	if len(result.Checked) < 20 || len(broken) == 0 {
		t.Fatalf("%d files, %d of which do not compile", len(result.Checked), len(broken))
	}
	for name := range result.Checked {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		missing := slices.DeleteFunc(usedNeeds(content, needs), func(n need) bool { return !n.isMissingIn(have) })
		lacks := len(missing) > 0
		for _, n := range needs { // the compiler says that a file needs a newer language
			lacks = lacks || n.module == goLanguage && n.isMissingIn(have) && strings.Contains(broken[name], "requires go1.")
		}
		switch {
		case broken[name] != "" && !lacks:
			t.Errorf("%s does not compile, and needs does not say why: %s", name, broken[name])
		case broken[name] == "" && lacks && !slices.ContainsFunc(missing, func(n need) bool { return n.compiles }):
			t.Errorf("%s compiles, but not according to needs", name)
		}
	}
}

// TestPage compares the table of needs in the documentation.
func TestPage(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, n := range needs {
		older := "refused"
		if n.fact != "" {
			older = "other code"
		}
		shown := "`" + n.String() + "`"
		if n.module == goLanguage {
			shown = n.String()
		}
		rows = append(rows, "| "+n.module+" | "+n.version+" | "+shown+" | "+older+" |")
	}
	compattest.CheckTable(t, "What depends on the versions", rows)
}

// verdict has the files of a project, and the first error of each broken one.
type verdict struct {
	Checked map[string]bool
	Broken  map[string]string
}

// typeCheck type-checks a project with its tests. It reads dependencies without function
// bodies, which takes seconds where the compiler takes minutes.
func typeCheck(t *testing.T, dir string) verdict {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Dir: dir, Tests: true, Env: append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOPROXY=off"), Mode: packages.LoadAllSyntax,
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
			if err == nil && !strings.HasPrefix(name, dir) {
				for _, d := range f.Decls {
					if d, ok := d.(*ast.FuncDecl); ok {
						d.Body = nil
					}
				}
			}
			return f, err
		},
	}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	checked, broken := map[string]bool{}, map[string]string{}
	for _, p := range loaded {
		for _, name := range p.GoFiles {
			if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
				checked[rel] = true
			}
		}
		for _, e := range p.Errors {
			name, _, _ := strings.Cut(strings.TrimPrefix(e.Pos, dir+string(filepath.Separator)), ":")
			if e.Kind == packages.TypeError && broken[name] == "" {
				broken[name] = e.Msg
			}
		}
	}
	return verdict{checked, broken}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const webhook = "package v1\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n\nfunc f(mgr ctrl.Manager) { ctrl.NewWebhookManagedBy(mgr, nil) }\n"
	older := strings.Replace(webhook, ", nil", "", 1)
	const generic = "package v1\n\nimport \"sigs.k8s.io/controller-runtime/pkg/webhook/admission\"\n\nvar _ admission.Defaulter[T] = nil\n"
	const field = "package v1\n\nimport \"sigs.k8s.io/controller-runtime/pkg/config\"\n\nvar c = config.Controller{EnableWarmup: &warmup}\n"
	const versions = "package v1\n\nimport \"k8s.io/apimachinery/pkg/util/resourceversion\"\n"
	const old = "module example.org/fleet\n\nrequire (\n\tk8s.io/apimachinery v0.34.1\n\tsigs.k8s.io/controller-runtime v0.22.5\n)\n"
	tests := []struct{ name, goMod, disk, planned, want string }{
		{"new libraries", strings.NewReplacer("0.34.1", "0.35.0", "0.22.5", "0.23.0").Replace(old), "", webhook, ""},
		{"unknown libraries", "module example.org/fleet\n", "", webhook, ""},
		{"a folder replaces a library", old + "replace sigs.k8s.io/controller-runtime => ../cr\n", "", webhook, ""},
		{"another call", old, "", older, ""},
		{"an existing call", old, webhook, webhook + "\nvar x int\n", ""},
		{"a new call", old, older, webhook, "a.go would not compile: controller-runtime.NewWebhookManagedBy needs sigs.k8s.io/controller-runtime v0.23.0 (go.mod has v0.22.5)\n" +
			"run `go get sigs.k8s.io/controller-runtime@v0.23.0 && go mod tidy`, or later versions, and repeat the command"},
		{"a generic interface", old, "", generic, "a.go would not compile: admission.Defaulter needs sigs.k8s.io/controller-runtime v0.23.0 (go.mod has v0.22.5)\n" +
			"run `go get sigs.k8s.io/controller-runtime@v0.23.0 && go mod tidy`, or later versions, and repeat the command"},
		{"a field", strings.Replace(old, "0.22.5", "0.20.4", 1), "", field, "a.go would not compile: config.Controller.EnableWarmup needs sigs.k8s.io/controller-runtime v0.22.0 (go.mod has v0.20.4)\n" +
			"run `go get sigs.k8s.io/controller-runtime@v0.22.0 && go mod tidy`, or later versions, and repeat the command"},
		{"a method", strings.Replace(old, "0.22.5", "0.20.4", 1), "", "package v1\n\nvar b = x.WithDefaulterCustomPath(\"/x\")\n",
			"a.go would not compile: WithDefaulterCustomPath needs sigs.k8s.io/controller-runtime v0.21.0 (go.mod has v0.20.4)\n" +
				"run `go get sigs.k8s.io/controller-runtime@v0.21.0 && go mod tidy`, or later versions, and repeat the command"},
		{"a package", old, "", versions, "a.go would not compile: resourceversion needs k8s.io/apimachinery v0.35.0 (go.mod has v0.34.1)\n" +
			"run `go get k8s.io/apimachinery@v0.35.0 && go mod tidy`, or later versions, and repeat the command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"go.mod": tt.goMod}
			if tt.disk != "" {
				files["a.go"] = tt.disk
			}
			fsys := afero.NewMemMapFs()
			for name, content := range files {
				if err := afero.WriteFile(fsys, name, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			p, err := scaffold.New(fsys, scaffold.Options{Command: "test"})
			if err != nil {
				t.Fatal(err)
			}
			plan := func() error { return p.Share("a.go", 0o644, []byte(tt.planned)) }
			if tt.disk != "" {
				plan = func() error { return p.Edit("a.go", func([]byte) ([]byte, error) { return []byte(tt.planned), nil }) }
			}
			if err := plan(); err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := Check(p); err != nil {
				got = err.Error() + "\n" + fault.HintOf(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
