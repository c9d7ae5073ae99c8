// Package environ reads an environment that is a value in the form of os.Environ: variables, and
// programs in its PATH. Only nil is the environment of this process, as for exec.Cmd.
package environ

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// All returns the lines of an environment.
func All(env []string) []string {
	if env == nil {
		return os.Environ()
	}
	return env
}

// With returns a copy of an environment with more lines of the form NAME=value.
func With(env []string, lines ...string) []string { return slices.Concat(All(env), lines) }

// Get returns the value of a variable, or "".
func Get(env []string, name string) string {
	value, _ := Lookup(env, name)
	return value
}

// Lookup returns the value of a variable, and whether it is set. If a name has several lines, the
// last one counts, as for a child process.
func Lookup(env []string, name string) (value string, ok bool) {
	for _, line := range slices.Backward(All(env)) {
		if k, v, ok := strings.Cut(line, "="); ok && same(k, name) {
			return v, true
		}
	}
	return "", false
}

// same compares the names of two variables. Windows ignores their case.
func same(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// LookPath returns the path of a program in PATH. The error wraps [exec.ErrNotFound] if it is
// missing. Relative folders of PATH do not count, because anyone may have put a program there.
func LookPath(env []string, program string) (string, error) {
	if strings.ContainsRune(filepath.ToSlash(program), '/') {
		return exec.LookPath(program)
	}
	for _, dir := range filepath.SplitList(Get(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, nil
		}
	}
	return "", &exec.Error{Name: program, Err: exec.ErrNotFound}
}

// Command returns a command that runs a program of PATH in a folder, with the environment. If the
// program is missing, the command fails to start.
func Command(ctx context.Context, dir string, env []string, program string, args ...string) *exec.Cmd {
	path, err := LookPath(env, program)
	if err != nil {
		path = program
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Args[0], cmd.Dir, cmd.Env, cmd.Err = program, dir, env, err
	return cmd
}

// DataFolder returns the user's folder for the data of programs on a system, such as linux:
// %LocalAppData% on Windows, ~/Library/Application Support on macOS, and
// ${XDG_DATA_HOME:-~/.local/share} elsewhere. The error names the variable that is not set.
func DataFolder(goos string, env []string) (string, error) {
	variable, below := "HOME", filepath.Join(".local", "share")
	switch {
	case goos == "windows":
		variable, below = "LocalAppData", ""
	case goos == "darwin":
		below = filepath.Join("Library", "Application Support")
	case Get(env, "XDG_DATA_HOME") != "":
		variable, below = "XDG_DATA_HOME", ""
	}
	folder := Get(env, variable)
	if folder == "" {
		return "", errors.New(variable + " is not set")
	}
	return filepath.Join(folder, below), nil
}
