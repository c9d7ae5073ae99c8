package environ

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	env := []string{"A=1", "B", "C=", "A=2=3"}
	for name, want := range map[string]string{"A": "2=3", "B": "", "C": "", "D": ""} {
		if got := Get(env, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, ok := Lookup(env, "C"); !ok {
		t.Error("C is not set")
	}
	if _, ok := Lookup(env, "B"); ok {
		t.Error("B is set")
	}
	if got := Get(With(env, "E=5"), "E"); got != "5" || Get(env, "E") != "" {
		t.Errorf("E is %q", got)
	}
	if got := Get(With(nil, "E=5"), "PATH"); got != os.Getenv("PATH") {
		t.Errorf("PATH of this process is %q", got)
	}
	if got := Get([]string{}, "PATH"); got != "" {
		t.Errorf("PATH of an empty environment is %q", got)
	}
}

// TestCommand runs the program in the PATH of the environment, not of this process.
func TestCommand(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ls"), []byte("#!/bin/sh\necho $1 in $PWD with $A"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=bin:" + filepath.Join(dir, "missing") + ":" + dir, "A=b", "PWD=" + dir}
	out, err := Command(t.Context(), dir, env, "ls", "x").Output()
	if want := "x in " + dir + " with b\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
	for _, program := range []string{"sh", "plain"} {
		if _, err := Command(t.Context(), dir, env, program).Output(); !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s: %v", program, err)
		}
	}
}
