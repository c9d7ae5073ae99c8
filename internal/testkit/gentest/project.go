package gentest

import (
	"bytes"
	_ "embed"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/corpus"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"
)

//go:embed zoo.txtar
var zoo []byte

// Zoo writes a project with several API groups into a new folder. Its module has the
// requirements of this repository, so that it needs no network. more are txtar archives
// that add or replace files.
func Zoo(t *testing.T, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	goMod, err := os.ReadFile(repository.Path("go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", goMod, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.AddModuleStmt("example.com/zoo"); err != nil {
		t.Fatal(err)
	}
	if goMod, err = f.Format(); err != nil {
		t.Fatal(err)
	}
	goSum, err := os.ReadFile(repository.Path("go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	WriteFile(t, filepath.Join(dir, "go.mod"), goMod)
	WriteFile(t, filepath.Join(dir, "go.sum"), goSum)
	for _, text := range append([]string{string(zoo)}, more...) {
		for _, file := range txtar.Parse([]byte(text)).Files {
			WriteFile(t, filepath.Join(dir, filepath.FromSlash(file.Name)), file.Data)
		}
	}
	return dir
}

// WriteFile writes a file and creates its folder.
func WriteFile(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Tree returns the content of all files below dir, by slash-separated path.
func Tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Written returns the files in dir that changed since before.
func Written(t *testing.T, dir string, before map[string]string) map[string]string {
	t.Helper()
	files := Tree(t, dir)
	for name, content := range before {
		if files[name] == content {
			delete(files, name)
		}
	}
	return files
}

// Replace replaces the first occurrence of a text in a file, which must contain it.
func Replace(t *testing.T, name, before, after string) {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(src), before) {
		t.Fatalf("%s does not contain %q:\n%s", name, before, src)
	}
	WriteFile(t, name, []byte(strings.Replace(string(src), before, after, 1)))
}

// Corpus writes a corpus with the go.mod of a scaffolded project.
func Corpus(tb testing.TB, kinds int) string {
	tb.Helper()
	dir := tb.TempDir()
	files, err := corpus.Files(kinds)
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		src, err := os.ReadFile(repository.Path("testdata", "golden", "fleet", name))
		if err != nil {
			tb.Fatal(err)
		}
		files[name] = bytes.Replace(src, []byte("module example.org/fleet\n"), []byte("module "+corpus.Repo+"\n"), 1)
	}
	for name, src := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, src, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// Tiger is the source of a kind that can be added to the package api/v1 of the zoo.
const Tiger = `package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Tiger is planned.
// +kubebuilder:object:root=true
type Tiger struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec LionSpec ` + "`json:\"spec\"`" + `
}
`
