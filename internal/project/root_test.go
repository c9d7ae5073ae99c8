package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

func TestFindRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(filepath.Join(deep, File), 0o755); err != nil { // a folder with this name is not a project
		t.Fatal(err)
	}
	_, err := FindRoot(root)
	if fault.Code(err) != fault.CodeUsage || err.Error() != "no PROJECT file in "+root+" or its parent folders" || fault.HintOf(err) == "" {
		t.Errorf("outside a project: %v", err)
	}
	_, err = FindRoot(deep)
	if want := "no PROJECT file in " + deep + " or its parent folders: " + filepath.Join(deep, File) + " is not a regular file"; fault.Code(err) != fault.CodeUsage ||
		err.Error() != want || !strings.Contains(fault.HintOf(err), "rename") {
		t.Errorf("folder PROJECT: %v, hint %q", err, fault.HintOf(err))
	}
	if err := os.WriteFile(filepath.Join(root, File), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, deep} {
		if got, err := FindRoot(dir); got != root || err != nil {
			t.Errorf("from %s: %s, %v", dir, got, err)
		}
	}
}

func TestFindRootUnreadable(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	name := filepath.Join(root, File)
	if err := os.WriteFile(name, nil, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(name); err == nil {
		f.Close()
		t.Skip("this user, or system, reads every file")
	}
	_, err := FindRoot(root)
	if !errors.Is(err, fs.ErrPermission) || fault.Code(err) != fault.CodeFailed || fault.HintOf(err) == "" {
		t.Errorf("%v, hint %q, exit code %d", err, fault.HintOf(err), fault.Code(err))
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ dir, name, repo string }{
		{"/home/x/s3-operator", "s3-operator", "s3-operator"},
		{"/home/x/My Operator", "my-operator", "my-operator"},
		{"/home/x/My_Operator", "my-operator", "My_Operator"},
		{"/home/x/v2", "v2", "v2"},
		{"/home/x/k.io", "k-io", "k.io"},
		{"/home/x/~x", "x", "x"},
		{"/home/x/+x", "x", "x"},
		{"/home/x/a~b", "a-b", "a~b"},
		{"/", "operator", "operator"},
		{"/home/x/---", "operator", "operator"},
		{"/home/x/größe", "gr-e", "gr-e"},
	} {
		dir := filepath.FromSlash(tt.dir)
		if got := DefaultName(dir); got != tt.name || CheckName(got) != nil {
			t.Errorf("%s: name %q, want %q", tt.dir, got, tt.name)
		}
		if got, err := DefaultRepo(nil, dir); got != tt.repo || err != nil {
			t.Errorf("%s: repo %q, %v, want %q", tt.dir, got, err, tt.repo)
		}
	}
	if got, err := DefaultRepo([]byte("// x\nmodule example.org/m // y\n\ngo 1.26.0\n"), "/x/y"); got != "example.org/m" || err != nil {
		t.Errorf("repo %q, %v", got, err)
	}
	for name, tt := range map[string]struct{ goMod, dir, want string }{
		"no module":  {"go 1.26.0\n", "/x/y", "go.mod has no module line"},
		"bad module": {"module \"a b\"\n", "/x/y", `repo "a b" is not a Go module path: invalid char ' '`},
	} {
		if _, err := DefaultRepo([]byte(tt.goMod), tt.dir); err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
	if _, err := DefaultRepo(nil, filepath.FromSlash("/x/vendor")); err == nil || err.Error() != "the folder name vendor is not a valid module path" {
		t.Errorf("folder vendor: %v", err)
	}
}

func TestCheckModule(t *testing.T) {
	t.Parallel()
	c := Config{Repo: "example.org/fleet"}
	for goMod, want := range map[string]string{
		"module example.org/fleet\n": "",
		"go 1.26.0\n":                "", // the go command reports the error
		"module example.org/other\n": "PROJECT has the repo example.org/fleet, but go.mod has the module example.org/other",
	} {
		err := c.CheckModule([]byte(goMod))
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && (got != want || fault.Code(err) != fault.CodeUsage || fault.HintOf(err) == "") {
			t.Errorf("%q: %v, hint %q", goMod, err, fault.HintOf(err))
		}
	}
}

// TestCheckModuleFiles expects the path of a file that the go command would read, and no error for another one.
func TestCheckModuleFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, gowork, want string }{
		{"mono/fleet/go.mod", "", "go.mod is larger than 16 MiB"},
		{"mono/fleet/go.sum", "off", "go.sum is larger than 16 MiB"},
		{"mono/fleet/vendor/modules.txt", "", "vendor/modules.txt is larger than 16 MiB"},
		{"mono/go.work", "", "../go.work is larger than 16 MiB"},
		{"go.work", "", "../../go.work is larger than 16 MiB"},
		{"mono/go.work", "off", ""},
		{"mono/go.work", "other.work", ""},
		{"other.work", "other.work", "../../other.work is larger than 16 MiB"},
		{"other.work.sum", "other.work", "../../other.work.sum is larger than 16 MiB"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, filepath.FromSlash(c.file))
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "mono", "fleet"), 0o700), os.MkdirAll(filepath.Dir(file), 0o700),
			os.WriteFile(file, nil, 0o600), os.Truncate(file, 1<<30)); err != nil {
			t.Fatal(err)
		}
		if c.gowork == "other.work" {
			c.gowork = filepath.Join(dir, c.gowork)
		}
		err := CheckModuleFiles(filepath.Join(dir, "mono", "fleet"), c.gowork)
		if got := fmt.Sprint(err); err == nil && c.want != "" || err != nil && (got != c.want || fault.HintOf(err) == "") {
			t.Errorf("%s, GOWORK=%s: %v", c.file, c.gowork, err)
		}
	}
}
