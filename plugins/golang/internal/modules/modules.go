// Package modules plans go.mod and go.sum, without network access.
package modules

import (
	"context"
	"errors"
	"fmt"
	"go/version"
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/edit/conflict"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// The module files of the project.
const (
	GoMod = "go.mod"
	GoSum = "go.sum"

	// TidyRule is the rule of the warning that operon could not complete go.mod.
	TidyRule = "go-mod-tidy"
)

// The modules that generated code imports, without and with the Kubernetes API types.
var (
	Base = []string{
		"github.com/onsi/ginkgo/v2", "github.com/onsi/gomega",
		"k8s.io/apimachinery", "k8s.io/client-go", controllerRuntime,
		"sigs.k8s.io/randfill",
	}
	WithAPI = append(slices.Clone(Base), "k8s.io/api")
)

// Plan plans go.mod and go.sum. Both are constant for a project that operon created, so that
// `go mod tidy` has nothing to change. A go.mod from elsewhere keeps its versions, and Plan
// adds the missing modules of needed. The go command then decides whether the versions are
// compatible. If a go.mod from elsewhere has a controller-runtime, the planned Go files decide what
// is needed, so call Plan after them.
func Plan(ctx context.Context, e plugin.Event, needed []string, p *scaffold.Plan) error {
	ours, pinned, err := Pinned(e.Project.Repo)
	if err != nil {
		return err
	}
	if !p.Exists(GoMod) {
		if p.HasBase(project.DefaultMainFile) && !p.Seeded(project.DefaultMainFile) {
			// The missing file contains the user's own requirements.
			return fault.Failed("restore it from version control, or run operon init for a new one", "go.mod is missing")
		}
		if err := p.Share(GoMod, 0o644, ours.Mod); err != nil {
			return err
		}
		return addSums(ours.Sum, p)
	}
	have, f, err := read(p)
	if err != nil {
		return err
	}
	if chooses(f, pinned) {
		return fit(ctx, e, have, f, p)
	}
	known := versions(f)
	if !slices.ContainsFunc(needed, func(path string) bool { return known[path] == "" }) {
		if !carriesPins(f, pinned) {
			return nil // the go command maintains this go.sum
		}
		return addSums(ours.Sum, p)
	}
	if len(f.Require) > 0 || len(f.Replace) > 0 || len(f.Exclude) > 0 {
		warnTidy(p, "run go mod tidy")
	}
	next, err := complete(f, pinned)
	if err != nil {
		return err
	}
	if err := replace(GoMod, next, p); err != nil {
		return err
	}
	return addSums(ours.Sum, p)
}

// read reads go.mod and go.sum, which may be missing.
func read(p *scaffold.Plan) (have gomod.Files, f *modfile.File, err error) {
	if have.Mod, err = p.Read(GoMod); err != nil {
		return have, nil, err
	}
	if f, err = parse(have.Mod); err != nil {
		return have, nil, unreadable(have.Mod, err)
	}
	if have.Sum, err = p.Read(GoSum); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return have, f, err
}

// replace replaces the content of a file.
func replace(name string, content []byte, p *scaffold.Plan) error {
	return p.Edit(name, func([]byte) ([]byte, error) { return content, nil })
}

// replaceBoth replaces the contents of go.mod and of go.sum, which may be missing.
func replaceBoth(next gomod.Files, p *scaffold.Plan) error {
	if err := replace(GoMod, next.Mod, p); err != nil {
		return err
	}
	if !p.Exists(GoSum) {
		return p.Share(GoSum, 0o644, next.Sum)
	}
	return replace(GoSum, next.Sum, p)
}

func parse(goMod []byte) (*modfile.File, error) { return modfile.Parse(GoMod, goMod, nil) }

// versions returns the versions that a go.mod requires, by module.
func versions(f *modfile.File) map[string]string {
	all := map[string]string{}
	for _, r := range f.Require {
		all[r.Mod.Path] = r.Mod.Version
	}
	return all
}

// carriesPins reports whether a go.mod requires all modules of pinned in the same versions. Then it needs every
// line of our go.sum.
func carriesPins(f, pinned *modfile.File) bool {
	have := versions(f)
	for module, version := range versions(pinned) {
		if have[module] != version {
			return false
		}
	}
	return true
}

// extends reports whether a go.mod requires all modules of pinned, in the same or newer versions. Then operon wrote
// it, and the user may have added modules.
func extends(f, pinned *modfile.File) bool {
	have := versions(f)
	for module, version := range versions(pinned) {
		if semver.Compare(have[module], version) < 0 {
			return false
		}
	}
	return true
}

func warnTidy(p *scaffold.Plan, message string) {
	p.Warn(scaffold.Warning{File: GoMod, Rule: TidyRule, Message: message})
}

// Pinned returns the files of a new project.
func Pinned(repo string) (ours gomod.Files, f *modfile.File, err error) {
	return readFiles("golang/init/", repo)
}

// readFiles reads go.mod and go.sum from a folder of templates.
func readFiles(dir, repo string) (ours gomod.Files, f *modfile.File, err error) {
	tmpl, err := templates.FS.ReadFile(dir + GoMod + render.Suffix)
	if err != nil {
		return ours, nil, err
	}
	ours.Mod, err = render.Text(GoMod, string(tmpl), struct{ Project project.Config }{project.Config{Repo: repo}})
	if err != nil {
		return ours, nil, err
	}
	if ours.Sum, err = templates.FS.ReadFile(dir + GoSum); err != nil {
		return ours, nil, err
	}
	f, err = parse(ours.Mod)
	return ours, f, err
}

// complete returns a go.mod with the modules of pinned that it lacks. It raises the go directive if they
// require it.
func complete(f, pinned *modfile.File) ([]byte, error) {
	known, requires := versions(f), slices.Clone(f.Require)
	for _, r := range pinned.Require {
		if known[r.Mod.Path] == "" {
			requires = append(requires, &modfile.Require{Mod: module.Version{Path: r.Mod.Path, Version: r.Mod.Version}, Indirect: r.Indirect})
		}
	}
	f.SetRequireSeparateIndirect(requires)
	if f.Go == nil || version.Compare("go"+f.Go.Version, "go"+pins.Go) < 0 {
		if err := f.AddGoStmt(pins.Go); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	return f.Format()
}

// unreadable returns the error for a go.mod that does not parse. It contains only the first
// mistake, because the others often follow from it.
func unreadable(src []byte, err error) error {
	if line := conflict.Line(src); line > 0 {
		return conflict.Error(fmt.Sprintf("%s:%d:1", GoMod, line))
	}
	if list, ok := errors.AsType[modfile.ErrorList](err); ok && len(list) > 0 {
		err = &list[0]
	}
	return fault.Failed("correct it, then repeat the command", "%s", err)
}

// addSums adds the missing lines of sums to go.sum. It does not change a complete go.sum.
func addSums(sums []byte, p *scaffold.Plan) error {
	src, err := p.Read(GoSum)
	if errors.Is(err, fs.ErrNotExist) {
		return p.Share(GoSum, 0o644, sums)
	}
	if err != nil {
		return err
	}
	have, want := lines(src), lines(sums)
	if !slices.ContainsFunc(want, func(line string) bool { return !slices.Contains(have, line) }) {
		return nil
	}
	all := slices.Concat(have, want)
	sortSums(all)
	end := edit.LineEnd(src)
	return replace(GoSum, []byte(strings.Join(slices.Compact(all), end)+end), p)
}

// lines returns the lines of a go.sum without white space around them.
func lines(sums []byte) []string {
	var all []string
	for line := range strings.Lines(string(sums)) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// sortSums sorts the lines of a go.sum like the go command: by module, then by version, with
// the module's own sum before the sum of its go.mod.
func sortSums(lines []string) {
	slices.SortFunc(lines, func(a, b string) int {
		x, y := strings.Fields(a), strings.Fields(b)
		if len(x) < 2 || len(y) < 2 || x[0] != y[0] {
			return strings.Compare(a, b)
		}
		vx, fx, _ := strings.Cut(x[1], "/")
		vy, fy, _ := strings.Cut(y[1], "/")
		if c := semver.Compare(vx, vy); c != 0 {
			return c
		}
		if vx != vy {
			return strings.Compare(vx, vy)
		}
		return strings.Compare(fx, fy)
	})
}
