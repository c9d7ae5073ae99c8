package modules

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"golang.org/x/mod/modfile"
)

// vendorList is the list of the packages in the folder vendor.
const vendorList = "vendor/modules.txt"

// CheckVendor returns an error if Go files that the plan changes import packages that the folder vendor lacks. The
// go command, and so the generators, cannot load the planned files before go mod vendor has read them from the disk.
func CheckVendor(e plugin.Event, p *scaffold.Plan) error {
	missing, err := notVendored(e, p)
	if err != nil || missing == "" {
		return err
	}
	return fault.Failed("repeat the command with --make=false, then run go mod vendor and operon generate",
		"the folder vendor lacks packages that the new code imports, such as %s", missing)
}

// WarnVendor warns about the same.
func WarnVendor(e plugin.Event, p *scaffold.Plan) error {
	missing, err := notVendored(e, p)
	if missing != "" {
		p.Warn(scaffold.Warning{File: vendorList, Rule: "not-vendored",
			Message: "run go mod vendor, then operon generate: the new code imports " + missing})
	}
	return err
}

// notVendored returns the first package that changed Go files import and the folder vendor lacks, or "".
func notVendored(e plugin.Event, p *scaffold.Plan) (string, error) {
	list, err := p.Read(vendorList)
	ignored := func(variable string) bool {
		return strings.HasPrefix(variable, "GOFLAGS=") && strings.Contains(variable, "-mod=") && !strings.Contains(variable, "-mod=vendor")
	}
	if errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(e.Environment.Environ, ignored) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	_, f, err := read(p)
	if err != nil {
		return "", err
	}
	vendored := strings.Split(string(list), "\n")
	changes := p.Changes()
	if !matches(vendored, changes, p) {
		return "", nil // the go command reports it
	}
	for _, c := range changes {
		for _, name := range importsOf(c.Path, c.After) {
			first, _, _ := strings.Cut(name, "/")
			own := f.Module != nil && (name == f.Module.Mod.Path || strings.HasPrefix(name, f.Module.Mod.Path+"/"))
			if strings.Contains(first, ".") && !own && !slices.Contains(vendored, name) {
				return name, nil
			}
		}
	}
	return "", nil
}

// matches reports whether the folder vendor has the modules that go.mod requires on the disk.
func matches(vendored []string, changes []scaffold.Change, p *scaffold.Plan) bool {
	src, err := p.Read("go.mod")
	if i := slices.IndexFunc(changes, func(c scaffold.Change) bool { return c.Path == "go.mod" }); i >= 0 {
		src = changes[i].Before
	}
	f, parseErr := modfile.ParseLax("go.mod", src, nil)
	if err != nil || parseErr != nil {
		return false
	}
	return !slices.ContainsFunc(f.Require, func(r *modfile.Require) bool {
		line := "# " + r.Mod.Path + " " + r.Mod.Version
		return !r.Indirect && !slices.ContainsFunc(vendored, func(l string) bool { return l == line || strings.HasPrefix(l, line+" ") })
	})
}
