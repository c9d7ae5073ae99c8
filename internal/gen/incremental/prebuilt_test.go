package incremental_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/gentest"
	"github.com/operon-dev/operon/internal/testkit/repository"

	"github.com/operon-dev/operon/internal/gen/depcache"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/listing"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/store"
	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// The archives that are compiled into operon.
const (
	prebuilt = "../depcache/prebuilt.zip"
	listings = "../listing/prebuilt.zip"
)

// The prebuilt packages. The packages that their types refer to are also prebuilt. There
// are packages that API types use, with all possible schemas; packages that crd reads as
// well; and packages that only object reads, because controllers import them.
var (
	apiPackages = strings.Fields(`
		k8s.io/api/apps/v1
		k8s.io/api/autoscaling/v2
		k8s.io/api/batch/v1
		k8s.io/api/core/v1
		k8s.io/api/networking/v1
		k8s.io/api/policy/v1
		k8s.io/api/rbac/v1
		k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1
		k8s.io/apimachinery/pkg/api/resource
		k8s.io/apimachinery/pkg/apis/meta/v1
		k8s.io/apimachinery/pkg/runtime
		k8s.io/apimachinery/pkg/types
		k8s.io/apimachinery/pkg/util/intstr`)
	passedPackages = strings.Fields(`
		github.com/onsi/ginkgo/v2
		k8s.io/client-go/applyconfigurations/meta/v1
		time`)
	otherPackages = strings.Fields(`
		context crypto/tls net/http net/url sync sync/atomic
		github.com/go-logr/logr
		k8s.io/apimachinery/pkg/api/meta
		k8s.io/apimachinery/pkg/apis/meta/v1/unstructured
		k8s.io/apimachinery/pkg/labels
		k8s.io/apimachinery/pkg/runtime/schema
		k8s.io/apimachinery/pkg/util/sets
		k8s.io/apimachinery/pkg/util/validation/field
		k8s.io/apimachinery/pkg/util/wait
		k8s.io/client-go/applyconfigurations/apps/v1
		k8s.io/client-go/applyconfigurations/core/v1
		k8s.io/client-go/rest
		k8s.io/client-go/tools/events
		k8s.io/client-go/tools/record
		sigs.k8s.io/controller-runtime/pkg/client
		sigs.k8s.io/controller-runtime/pkg/event
		sigs.k8s.io/controller-runtime/pkg/handler
		sigs.k8s.io/controller-runtime/pkg/predicate
		sigs.k8s.io/controller-runtime/pkg/reconcile
		sigs.k8s.io/controller-runtime/pkg/webhook/admission`)
)

// systems are the systems for which packages are prebuilt. The archive has packages that
// are the same on all of them only once.
var systems = []string{
	"GOOS=linux GOARCH=amd64 CGO_ENABLED=1",
	"GOOS=linux GOARCH=amd64 CGO_ENABLED=0",
	"GOOS=linux GOARCH=arm64 CGO_ENABLED=1",
	"GOOS=linux GOARCH=arm64 CGO_ENABLED=0",
	"GOOS=darwin GOARCH=arm64 CGO_ENABLED=1",
	"GOOS=windows GOARCH=amd64 CGO_ENABLED=0",
}

// TestPrebuilt checks that the prebuilt packages are those that scaffolded projects depend
// on. With OPERON_PREBUILT=write, it writes them:
//
//	OPERON_PREBUILT=write go test ./internal/gen/incremental -run TestPrebuilt
//
// It compares them for one system, if the Go release is the one that created them.
func TestPrebuilt(t *testing.T) {
	t.Parallel()
	release, dir := goRelease(t), seed(t)
	if os.Getenv("OPERON_PREBUILT") == "write" {
		entries, files, listed := map[string][]*depcache.Entry{}, map[string][]byte{}, map[string][]byte{}
		for _, system := range systems {
			known := map[string]bool{}
			prebuild(t, dir, system, func(f *fast, path string, e *depcache.Entry) {
				name := f.Library.Cache.PrebuiltName(path)
				entries[name] = append(entries[name], e)
				known[path] = true
			})
			maps.Copy(listed, listingsFor(t, system, known))
		}
		for name, found := range entries {
			files[name] = depcache.Encode(found)
		}
		gentest.WriteFile(t, prebuilt, archive(t, files, zip.Store, release))
		gentest.WriteFile(t, listings, archive(t, listed, zip.Deflate, release))
		return
	}
	if madeWith(t) != release {
		return
	}
	known := map[string]bool{}
	prebuild(t, dir, systems[0], func(f *fast, path string, e *depcache.Entry) {
		known[path] = true
		part := depcache.Cache{Environment: f.Library.Cache.Environment, Prebuilt: true}
		have := part.Find(path, f.Library.Identity)
		if have == nil || !bytes.Equal(depcache.Encode([]*depcache.Entry{have}), depcache.Encode([]*depcache.Entry{e})) {
			t.Errorf("%s in %s is outdated: run make prebuilt", path, prebuilt)
		}
	})
	for name, want := range listingsFor(t, systems[0], known) {
		if !bytes.Equal(unpack(t, listings, name), want) {
			t.Errorf("%s is outdated: run make prebuilt", listings)
		}
	}
}

func goRelease(t *testing.T) string {
	t.Helper()
	release, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(release))
}

// madeWith returns the release of Go that created the prebuilt packages.
func madeWith(t *testing.T) string {
	t.Helper()
	r, err := zip.OpenReader(prebuilt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.Comment
}

// prebuild calls found with the entries of all packages for a system.
func prebuild(t *testing.T, dir, system string, found func(f *fast, path string, e *depcache.Entry)) {
	t.Helper()
	for _, gens := range []string{"crd object", "crd"} {
		f := newFast(t, dir, store.Open(t.TempDir()), append(strings.Fields(gens), "paths=./..."), strings.Fields(system)...)
		loaded := keepAll(t, f)
		for _, p := range loaded.Fresh {
			e := f.Library.Cache.Find(p.Path, f.Library.Identity)
			if e == nil {
				t.Fatalf("%s was not cached", p.Path)
			}
			found(f, p.Path, e)
		}
	}
}

// listingsFor returns the listings of the modules that scaffolded projects require, by name.
func listingsFor(t *testing.T, system string, known map[string]bool) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, golden := range []string{"fleet", "databaseuser"} {
		q, _ := newQuery(t, importer(t, golden), nil, []string{"object", "paths=./..."}, strings.Fields(system)...)
		g, err := q.List(t.Context())
		if err != nil {
			t.Fatal("not listed:", err)
		}
		name, entry, err := listing.Prebuild(q, g, known)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = entry
	}
	return all
}

// importer writes a package that imports all that golden projects with the same go.mod import
// from other modules, and all prebuilt packages.
func importer(t *testing.T, golden string) (dir string) {
	t.Helper()
	dir = moduleLike(t, golden)
	paths := map[string]bool{}
	for _, path := range slices.Concat(apiPackages, passedPackages, otherPackages) {
		paths[path] = true
	}
	for _, project := range goldenProjects(t) {
		if !sameRequirements(t, project, dir) {
			continue
		}
		goMod, err := os.ReadFile(filepath.Join(project, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		own := modfile.ModulePath(goMod)
		for name, content := range gentest.Tree(t, project) {
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range f.Imports {
				if path, _ := strconv.Unquote(spec.Path.Value); !strings.HasPrefix(path, own+"/") {
					paths[path] = true
				}
			}
		}
	}
	var text strings.Builder
	text.WriteString("package importer\n\n")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		fmt.Fprintf(&text, "import _ %q\n", path)
	}
	// A program has the linker's dependencies.
	gentest.WriteFile(t, filepath.Join(dir, "importer.go"), []byte(text.String()))
	gentest.WriteFile(t, filepath.Join(dir, "cmd", "main.go"), []byte("package main\n"))
	return dir
}

// sameRequirements reports whether two modules require the same versions.
func sameRequirements(t *testing.T, a, b string) bool {
	t.Helper()
	requirements := func(dir string) string {
		goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			return dir
		}
		_, rest, _ := strings.Cut(string(goMod), "\n")
		return rest
	}
	return requirements(a) == requirements(b)
}

// unpack returns a file of an archive.
func unpack(t *testing.T, archive, name string) []byte {
	t.Helper()
	r, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := r.Open(name)
	if err != nil {
		return nil
	}
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// archive packs files.
func archive(t *testing.T, files map[string][]byte, method uint16, release string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetComment(release); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// moduleLike writes the go.mod and the go.sum of a golden project into a new folder.
func moduleLike(t *testing.T, golden string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(repository.Path("testdata", "golden", golden, name))
		if err != nil {
			t.Fatal(err)
		}
		gentest.WriteFile(t, filepath.Join(dir, name), content)
	}
	return dir
}

// seed writes a package that refers to all packages, with the go.mod of a scaffolded
// project. The types that it refers to need not exist.
func seed(t *testing.T) string {
	t.Helper()
	dir := moduleLike(t, "fleet")
	var imports, fields strings.Builder
	for i, path := range slices.Concat(apiPackages, passedPackages, otherPackages) {
		fmt.Fprintf(&imports, "import p%d %q\n", i, path)
		tag := ""
		if i < len(apiPackages)+len(passedPackages) {
			tag = fmt.Sprintf("`json:\"f%d\"`", i) // crd looks at no other field
		}
		fmt.Fprintf(&fields, "\tF%d p%d.Any %s\n", i, i, tag)
	}
	gentest.WriteFile(t, filepath.Join(dir, "seed.go"), []byte("package seed\n\n"+imports.String()+"\ntype Seed struct {\n"+fields.String()+"}\n"))
	return dir
}

// keepAll stores all packages that the roots depend on, with all schemas of API
// packages, and returns what it loaded.
func keepAll(t *testing.T, f *fast) *golist.Loaded {
	t.Helper()
	set := &load.Set{Fset: token.NewFileSet()}
	loaded, err := f.Load(t.Context(), set, f.DirtyRoots(), func([][]*ast.File) {}, false)
	if err != nil {
		t.Fatal(err)
	}
	reg := &markers.Registry{}
	for _, g := range f.Job.Generators {
		if err := g.Gen.RegisterMarkers(reg); err != nil {
			t.Fatal(err)
		}
	}
	checker := &loader.TypeChecker{NodeFilters: generate.CheckFilters(f.Job.Generators)}
	parser := &crd.Parser{Collector: &markers.Collector{Registry: reg}, Checker: checker}
	crd.AddKnownTypes(parser)
	parser.NeedPackage(set.Roots[0])
	all := everyPackage(set.Roots[0])
	for _, path := range apiPackages {
		p := all[path]
		parser.NeedPackage(p)
		var names []string
		for id := range parser.Types {
			if id.Package == p {
				names = append(names, id.Name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			askFor(parser, crd.TypeIdent{Package: p, Name: name}, all)
		}
	}
	set.Deps.Collect(parser)
	for i := range loaded.Fresh {
		loaded.Fresh[i].Direct = true
	}
	f.keep(set, loaded)
	return loaded
}

// askFor asks for the schema of a type. After an error, it removes all schemas that were
// made for it.
func askFor(parser *crd.Parser, id crd.TypeIdent, all map[string]*loader.Package) {
	before := maps.Clone(parser.Schemata)
	defer func() {
		failed := recover() != nil
		for _, p := range all {
			failed = failed || slices.ContainsFunc(p.Errors, func(e packages.Error) bool { return e.Kind != packages.TypeError })
			p.Errors = nil
		}
		if failed {
			parser.Schemata = before
		}
	}()
	parser.NeedSchemaFor(id)
}

func everyPackage(root *loader.Package) map[string]*loader.Package {
	all := map[string]*loader.Package{}
	var visit func(p *loader.Package)
	visit = func(p *loader.Package) {
		if all[p.PkgPath] == nil {
			all[p.PkgPath] = p
			for _, imported := range p.Imports() {
				visit(imported)
			}
		}
	}
	visit(root)
	return all
}

// goldenProjects returns the folders of the golden projects.
func goldenProjects(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(repository.Path("testdata", "golden", "*", "PROJECT"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range dirs {
		if dirs[i], err = filepath.Abs(filepath.Dir(name)); err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

// TestFirstRun generates in scaffolded projects with an empty cache, and checks that no
// source of a dependency is read, if the release of Go is the one that created the entries.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	if madeWith(t) != goRelease(t) {
		return
	}
	for _, dir := range append(goldenProjects(t), gentest.Corpus(t, 2)) {
		if _, err := os.Stat(filepath.Join(dir, "api")); err != nil {
			continue // a project without Go types
		}
		all := []string{"crd object rbac:roleName=r webhook"}
		if filepath.Base(dir) == "fleet" {
			all = append(all, "crd rbac:roleName=r webhook", "object")
		}
		for _, gens := range all {
			f := newFast(t, dir, nil, append(strings.Fields(gens), "paths=./..."))
			f.Library.Cache.Prebuilt = true
			if tries := f.run(t); len(tries) > 1 || len(tries[0]) > 0 {
				t.Errorf("%s, %s: read %q; run make prebuilt", filepath.Base(dir), gens, tries)
			}
		}
	}
}
