package gen

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen/store"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

const prebuilt = "deps/prebuilt.zip"

// The packages that are prebuilt, and with them what their types lead to: those
// of which API types are made, with all schemas that can be made, those that crd
// comes across beside, and those that only object does, in controllers.
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
		k8s.io/client-go/rest
		k8s.io/client-go/tools/record
		sigs.k8s.io/controller-runtime/pkg/client
		sigs.k8s.io/controller-runtime/pkg/event
		sigs.k8s.io/controller-runtime/pkg/handler
		sigs.k8s.io/controller-runtime/pkg/predicate
		sigs.k8s.io/controller-runtime/pkg/reconcile
		sigs.k8s.io/controller-runtime/pkg/webhook/admission`)
)

// TestPrebuilt sees to it that the packages which are a part of the program are
// those that scaffolded projects depend on, and writes them when asked to:
//
//	OPERON_PREBUILT=write go test ./internal/gen -run TestPrebuilt
//
// The content is compared where Go is of the release that it was made with.
func TestPrebuilt(t *testing.T) {
	t.Parallel()
	release, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := prebuild(t, strings.TrimSpace(string(release)))
	if os.Getenv("OPERON_PREBUILT") == "write" {
		writeFile(t, prebuilt, want)
		return
	}
	have, err := os.ReadFile(prebuilt)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(have), int64(len(have)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Comment == strings.TrimSpace(string(release)) && !bytes.Equal(have, want) {
		t.Errorf("%s is not made of the pinned packages: run make prebuilt", prebuilt)
	}
}

// prebuild returns the archive of the prebuilt packages.
func prebuild(t *testing.T, release string) []byte {
	t.Helper()
	s, dir := store.Open(t.TempDir()), seed(t)
	files := map[string][]byte{}
	for _, gens := range []string{"crd object", "crd"} {
		maps.Copy(files, keepAll(t, dir, s, append(strings.Fields(gens), "paths=./...")))
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
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
	return archive.Bytes()
}

// seed writes a package that refers to all packages, with the go.mod of a
// scaffolded project. The types need not be there to be referred to.
func seed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile("../../testdata/golden/fleet/" + name)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), content)
	}
	var imports, fields strings.Builder
	for i, path := range slices.Concat(apiPackages, passedPackages, otherPackages) {
		fmt.Fprintf(&imports, "import p%d %q\n", i, path)
		tag := ""
		if i < len(apiPackages)+len(passedPackages) {
			tag = fmt.Sprintf("`json:\"f%d\"`", i) // crd looks at no other field
		}
		fmt.Fprintf(&fields, "\tF%d p%d.Any %s\n", i, i, tag)
	}
	writeFile(t, filepath.Join(dir, "seed.go"), []byte("package seed\n\n"+imports.String()+"\ntype Seed struct {\n"+fields.String()+"}\n"))
	return dir
}

// keepAll keeps all packages that those in dir lead to, and of API packages all
// schemas, and returns them as files of the archive.
func keepAll(t *testing.T, dir string, s *store.Store, args []string) map[string][]byte {
	t.Helper()
	f := newFast(t, dir, s, args)
	set := &packageSet{fset: token.NewFileSet()}
	if f.set = set; !f.load(t.Context(), f.roots()) {
		t.Fatal("not loaded")
	}
	reg := &markers.Registry{}
	for _, g := range f.job.generators {
		if err := g.gen.RegisterMarkers(reg); err != nil {
			t.Fatal(err)
		}
	}
	parser := &crd.Parser{
		Collector: &markers.Collector{Registry: reg},
		Checker:   &loader.TypeChecker{NodeFilters: checkFilters(f.job.generators)},
	}
	crd.AddKnownTypes(parser)
	parser.NeedPackage(set.roots[0])
	all := everyPackage(set.roots[0])
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
	set.deps.Collect(parser)
	for i := range f.loaded.Fresh {
		f.loaded.Fresh[i].Direct = true
	}
	f.keep()
	files := map[string][]byte{}
	for _, p := range f.loaded.Fresh {
		name, content, ok := f.kept.cache.Prebuild(p.Path, f.kept.identity)
		if !ok {
			t.Fatalf("%s was not kept", p.Path)
		}
		files[name] = content
	}
	return files
}

// askFor asks for the schema of a type. When there is an error, it forgets all
// schemas that the question led to.
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

// TestFirstRun generates in scaffolded projects with nothing kept but what is
// prebuilt, and sees that no source of a dependency is read.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("../../testdata/golden/*/PROJECT")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range dirs {
		dirs[i] = filepath.Dir(name)
	}
	for _, dir := range append(dirs, writeCorpus(t, 2)) {
		if _, err := os.Stat(filepath.Join(dir, "api")); err != nil {
			continue // a project without Go types
		}
		for _, gens := range []string{"crd object rbac:roleName=r webhook", "crd rbac:roleName=r webhook", "object"} {
			if dir, err = filepath.Abs(dir); err != nil {
				t.Fatal(err)
			}
			f := newFast(t, dir, nil, append(strings.Fields(gens), "paths=./..."))
			f.kept.cache.Prebuilt = true
			tries := f.run(t)
			if len(tries) > 1 || len(tries[0]) > 0 {
				t.Errorf("%s, %s: read %q; run make prebuilt", filepath.Base(dir), gens, tries)
			}
		}
	}
}
