//go:build testall

package readme

import (
	"archive/zip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// TestGoInstall installs operon from a module proxy, as users do. The binary has the
// templates and the version of the module.
func TestGoInstall(t *testing.T) {
	t.Parallel()
	const path = "github.com/operon-dev/operon"
	// Always the same version: with a new one, the go command would compile all of operon again.
	const version = "v0.0.0-installtest"
	proxy := t.TempDir()
	dir := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	treetest.MakeDir(t, dir)
	archive, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := modzip.Create(archive, module.Version{Path: path, Version: version}, sourceFiles(t)); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	checkZip(t, archive.Name())
	treetest.WriteFile(t, filepath.Join(dir, version+".mod"), treetest.ReadFile(t, repository.Path("go.mod")))
	treetest.WriteFile(t, filepath.Join(dir, "list"), version+"\n")
	treetest.WriteFile(t, filepath.Join(dir, version+".info"), `{"Version":"`+version+`"}`)

	// The module cache never updates a version, so the test removes it, and other clones wait.
	cache := operontest.GoEnv("GOMODCACHE")
	lock := flock.New(filepath.Join(cache, "cache", "operon-installtest.lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	removeFromModuleCache(t, cache, path, version) // a killed test leaves it
	t.Cleanup(func() { removeFromModuleCache(t, cache, path, version) })
	bin := t.TempDir()
	cmd := exec.Command("go", "install", path+"/cmd/operon@"+version)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "CGO_ENABLED=0", "GOFLAGS=-trimpath -ldflags=-s", "GOSUMDB=off",
		"GODEBUG=goindex=0", // the go command indexes a version once: the files of an earlier run
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(filepath.Join(cache, "cache", "download")))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	var got versionReport
	if err := json.Unmarshal([]byte(operontest.Exec(t, ".", filepath.Join(bin, "operon"), "version", "--output", "json")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != version || got.ControllerTools != "v0.23.0" {
		t.Errorf("version %+v", got)
	}
	project := filepath.Join(t.TempDir(), "fleet")
	treetest.MakeDir(t, project)
	out := operontest.Exec(t, project, filepath.Join(bin, "operon"), "init", "--domain", "example.org")
	if !strings.Contains(out, "create   .github/workflows/test.yml") {
		t.Errorf("init of the installed binary:\n%s", out)
	}
}

// sourceFiles lists the files of a release: those that git tracks or would add.
func sourceFiles(t *testing.T) []modzip.File {
	t.Helper()
	var files []modzip.File
	list := operontest.Exec(t, repository.Path(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		info, err := os.Lstat(repository.Path(name))
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted, or a link
		}
		files = append(files, sourceFile(name))
	}
	return files
}

// sourceFile is a file of the repository, by its slash-separated path.
type sourceFile string

func (f sourceFile) Path() string                 { return string(f) }
func (f sourceFile) Lstat() (fs.FileInfo, error)  { return os.Lstat(repository.Path(string(f))) }
func (f sourceFile) Open() (io.ReadCloser, error) { return os.Open(repository.Path(string(f))) }

// versionReport is a part of `operon version --output json`.
type versionReport struct{ Version, ControllerTools string }

// checkZip checks that the zip has a file whose name the go command could reject.
func checkZip(t *testing.T, name string) {
	t.Helper()
	r, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, "/templates/golang/types/[apidir]/[kind]_types.go.tmpl") {
			return
		}
	}
	t.Error("the zip lacks a template with brackets in its name")
}

// removeFromModuleCache removes a version of a module. The module cache is read-only.
func removeFromModuleCache(t *testing.T, cache, path, version string) {
	root := filepath.Join(cache, filepath.FromSlash(path)+"@"+version)
	_ = filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o755)
		}
		return err
	})
	for _, name := range []string{root, filepath.Join(cache, "cache", "download", filepath.FromSlash(path))} {
		if err := os.RemoveAll(name); err != nil {
			t.Error(err)
		}
	}
}
