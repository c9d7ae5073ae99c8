package load

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/edit/conflict"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// loadError returns the error for a listing that failed as a whole.
func loadError(ctx context.Context, src *overlay.Project, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	msg, action, module := err.Error(), "list packages", ""
	if m := loaderRoot().FindStringSubmatch(msg); m != nil && m[1] != src.Dir && src.Rel(m[1]) != "" {
		module = src.Rel(m[1])
		action += " in " + module
	}
	if _, stderr, _ := strings.Cut(msg, ": stderr: "); strings.TrimSpace(stderr) != "" {
		msg = stderr
	}
	msg = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(msg), "go: "))
	if m := inconsistent().FindStringSubmatch(msg); m != nil {
		return vendorError(src, m[1], "go "+m[2]+" vendor")
	}
	msg = src.Shorten(msg)
	goMod := path.Join(module, "go.mod")
	if mistake, ok := strings.CutPrefix(msg, "errors parsing go.mod:"); ok {
		if content, err := src.Open(goMod); err == nil && conflict.Line(content) > 0 {
			return conflict.Error(fmt.Sprintf("%s:%d:1", goMod, conflict.Line(content)))
		}
		first, _, _ := strings.Cut(strings.TrimSpace(mistake), "\n") // the others often follow from it
		return fault.Failed("correct it, then repeat the command", "%s", prefixed(module, first))
	}
	if strings.Contains(msg, "missing module declaration") {
		return fault.Failed("add the line with the name of the module, such as module example.org/fleet", "%s has no line module", goMod)
	}
	reported := fault.In(action, Problems{{Message: msg, module: module}}.Fault(src))
	if fault.HintOf(reported) == "" {
		return &fault.Error{Code: fault.CodeFailed, Err: reported, Hint: "correct what the go command reports, then repeat the command"}
	}
	return reported
}

// prefixed returns a message that starts with a file of a nested module, which is a folder or "", with the path from the root.
func prefixed(module, message string) string {
	if module == "" {
		return message
	}
	return module + "/" + message
}

// loaderRoot finds the folder in an error of the loader.
var loaderRoot = lazyregexp.New(`^load packages in root "([^"]*)"`)

// inconsistent finds the folder of the module or workspace, and the command, in an error of the go command about
// a folder vendor.
var inconsistent = lazyregexp.New(`(?s)^inconsistent vendoring in ([^\n]*):\n.*\bgo (mod|work) vendor$`)

// vendorError returns the error for a folder vendor in dir that the go command cannot use. The go command prints a
// line for each module. command writes the folder again, and first removes all that is in it.
func vendorError(src *overlay.Project, dir, command string) error {
	folder := filepath.Join(dir, "vendor")
	name := relative(src.Dir, folder)
	if !src.HasDir(folder) {
		return fault.Failed("run "+command+", or remove the flag", "GOFLAGS contains -mod=vendor, but there is no folder %s", name)
	}
	if _, err := src.Read(filepath.Join(folder, "modules.txt")); err != nil {
		return fault.Failed("rename the folder, or set GOFLAGS=-mod=readonly; if it has only Go modules, run "+command,
			"the go command looks for modules in the folder %s, which has no modules.txt", name)
	}
	return fault.Failed("run "+command+", or delete the folder", "the folder %s does not match go.mod", name)
}
