package modules

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Certificates returns the requirements, and the lines of go.sum, that a manager needs in
// addition to the requirements of Pinned if it makes its certificates.
func Certificates(repo string) (ours gomod.Files, f *modfile.File, err error) {
	return readFiles("golang/certificates/", repo)
}

// The module that makes the certificates of a manager, and the controller-runtime that its pinned
// version requires.
const (
	CertController        = "github.com/open-policy-agent/cert-controller"
	CertControllerRuntime = "v0.23.3"
)

// AddCertificates adds the missing modules that a manager needs to make its certificates.
// Existing requirements keep their versions, so it is an error if the pinned version of the module
// would raise controller-runtime.
func AddCertificates(repo string, p *scaffold.Plan) error {
	_, pinned, err := Pinned(repo)
	if err != nil {
		return err
	}
	ours, want, err := Certificates(repo)
	if err != nil {
		return err
	}
	have, f, err := read(p)
	if err != nil {
		return err
	}
	required := versions(f)
	version := required[controllerRuntime]
	if required[CertController] == "" && version != "" && semver.Compare(version, CertControllerRuntime) < 0 {
		return fault.Usage("use --webhook-certs cert-manager; or run `go get "+controllerRuntime+"@"+CertControllerRuntime+"` or later; or run `go get "+CertController+"` with a version that fits",
			"--webhook-certs self needs %s %s or later (go.mod has %s)", controllerRuntime, CertControllerRuntime, version)
	}
	if !extends(f, pinned) { // the go command must choose the versions
		warnTidy(p, "run go mod tidy")
	}
	next := have.Mod
	for _, r := range want.Require {
		if next, err = insertRequire(next, r); err != nil {
			return err
		}
	}
	if bytes.Equal(next, have.Mod) {
		return nil // the go command maintains this go.sum
	}
	if err := replace(GoMod, next, p); err != nil {
		return err
	}
	return addSums(ours.Sum, p)
}

// DropCertificates removes the modules that AddCertificates adds, unless the user requires
// other versions. Modules of the user may need them, too: then the go command decides. Call it
// after all Go files of the command are planned.
func DropCertificates(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	have, f, err := read(p)
	if err != nil {
		return err
	}
	next, certain, err := withoutCertificates(e.Project.Repo, f, have)
	if err != nil {
		return err
	}
	if !certain {
		if next, err = goOf(e).Tidy(ctx, p, have); err != nil {
			if ctx.Err() != nil {
				return err
			}
			warnTidy(p, "run go mod tidy: modules for certificates may no longer be needed")
			return nil
		}
	}
	if err := replace(GoMod, next.Mod, p); err != nil || have.Sum == nil {
		return err
	}
	return replace(GoSum, next.Sum, p)
}

// withoutCertificates returns the files without the modules of AddCertificates. certain is
// false if f requires modules that operon did not add.
func withoutCertificates(repo string, f *modfile.File, have gomod.Files) (next gomod.Files, certain bool, err error) {
	initial, pinned, err := Pinned(repo)
	if err != nil {
		return next, false, err
	}
	added, certificates, err := Certificates(repo)
	if err != nil {
		return next, false, err
	}
	base, extra := versions(pinned), versions(certificates)
	dropped := map[int]bool{} // by line
	for _, r := range f.Require {
		switch r.Mod.Version {
		case extra[r.Mod.Path]:
			dropped[r.Syntax.Start.Line] = r.Syntax.InBlock
		case base[r.Mod.Path]:
		default:
			return next, false, nil
		}
	}
	number := 0
	for line := range strings.Lines(string(have.Mod)) {
		if number++; !dropped[number] {
			next.Mod = append(next.Mod, line...)
		}
	}
	drop, keep := lines(added.Sum), lines(initial.Sum)
	for line := range strings.Lines(string(have.Sum)) {
		if text := strings.TrimSpace(line); !slices.Contains(drop, text) || slices.Contains(keep, text) {
			next.Sum = append(next.Sum, line...)
		}
	}
	return next, true, nil
}

// insertRequire returns the go.mod src with a requirement, unless it has the module. The line
// goes among the lines of the same kind, direct or indirect, and no other line changes.
func insertRequire(src []byte, r *modfile.Require) ([]byte, error) {
	f, err := parse(src)
	if err != nil {
		return nil, err
	}
	after := 0 // the line above
	for _, old := range f.Require {
		switch {
		case old.Mod.Path == r.Mod.Path:
			return src, nil
		case old.Indirect != r.Indirect || !old.Syntax.InBlock:
		case old.Mod.Path < r.Mod.Path:
			after = old.Syntax.End.Line
		case after == 0:
			after = old.Syntax.Start.Line - 1
		}
	}
	if after == 0 {
		f.AddNewRequire(r.Mod.Path, r.Mod.Version, r.Indirect)
		f.SetRequireSeparateIndirect(f.Require)
		f.Cleanup()
		return f.Format()
	}
	text := "\t" + r.Mod.Path + " " + r.Mod.Version
	if r.Indirect {
		text += " // indirect"
	}
	lines := strings.SplitAfter(string(src), "\n")
	return []byte(strings.Join(slices.Insert(lines, after, text+edit.LineEnd(src)), "")), nil
}
