package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/testkit/operators"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// newKind is a kind that no operator has.
const newKind = "Xebec"

// prepare adopts the operator.
func (t *trial) prepare() result {
	return t.exec(t.operon, append([]string{"adopt"}, t.of.Args...)...)
}

// adopt reports the time of operon adopt, and whether it wrote its two places and nothing else.
func (t *trial) adopt() string {
	r := t.prepare()
	if r.failed != "" {
		if t.of.Refused != "" && strings.HasPrefix(r.failed, t.of.Refused) {
			return "refused: " + r.failed
		}
		return "**" + r.failed + "**"
	}
	changed, err := operators.Changed(t.ctx, t.dir)
	if err != nil {
		return "**" + err.Error() + "**"
	}
	if len(changed) == 0 {
		return fmt.Sprintf("%.2f s, PROJECT is complete", r.cpu.Seconds())
	}
	if !slices.Equal(changed, []string{".operon/", "PROJECT"}) {
		return "**writes " + strings.Join(changed, ", ") + "**"
	}
	return fmt.Sprintf("%.2f s", r.cpu.Seconds())
}

// again reports whether a repeat has nothing to do.
func (t *trial) again() string {
	if r := t.prepare(); r.failed != "" {
		return "-"
	}
	r := t.prepare()
	switch {
	case r.failed != "":
		return "**" + r.failed + "**"
	case !strings.HasSuffix(r.stdout, "nothing to do\n"):
		return "**changes " + firstLine(r.stdout[strings.LastIndex(strings.TrimSpace(r.stdout), "\n")+1:]) + "**"
	}
	return "nothing to do"
}

// check reports how the generated files of the repository differ from what operon generates. If the
// version of controller-tools does not explain it, the version that the project pins generates, too.
func (t *trial) check() string {
	if r := t.prepare(); r.failed != "" {
		return "-"
	}
	versions, others, failed := t.differences()
	switch {
	case failed != "":
		return failed
	case len(versions) == 0 && len(others) == 0:
		return "clean"
	case len(others) == 0:
		return "only the version of controller-tools (" + strings.Join(versions, ", ") + ")"
	}
	finding := fmt.Sprintf("%d files differ, such as `%s`", len(others), others[0])
	pinned := t.pinned()
	if pinned == "" && len(versions) == 1 {
		pinned = versions[0] // the project does not say it, but its files do
	}
	if pinned == "" {
		return finding
	}
	t.env = t.projectGo() // old versions do not build with a new Go
	_, others, failed = t.differences("--controller-tools", pinned)
	switch {
	case failed != "":
		return finding + "; with " + pinned + ": " + failed
	case len(others) == 0:
		return "only the version of controller-tools (" + pinned + ")"
	default:
		return fmt.Sprintf("%d files differ, such as `%s`, also with the pinned %s", len(others), others[0], pinned)
	}
}

// differences returns the versions of files that differ only by the version of controller-tools, and the
// other files of the operator that differ.
func (t *trial) differences(args ...string) (versions, others []string, failed string) {
	r := t.exec(t.operon, append([]string{"generate", "--check", "--output", "json"}, args...)...)
	var report struct {
		Kind  string
		Items []struct {
			Path    string
			Version *struct{ From, To string }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || report.Kind == "Problems" {
		return nil, nil, r.failed
	}
	for _, d := range report.Items {
		switch {
		case d.Version != nil:
			versions = append(versions, d.Version.From)
		case d.Path != project.File: // it records the chosen version
			others = append(others, d.Path)
		}
	}
	slices.Sort(versions)
	if len(report.Items) == 0 {
		failed = r.failed
	}
	return slices.Compact(versions), others, failed
}

// pinned returns the version of controller-tools that the project installs, or "".
func (t *trial) pinned() string {
	r := t.exec(t.operon, "generate", "--explain", "--output", "json")
	var report struct{ ControllerTools struct{ Pinned string } }
	_ = json.Unmarshal([]byte(r.stdout), &report) // without a report, there is no version
	return report.ControllerTools.Pinned
}

// projectGo returns the environment that selects the version of Go in go.mod, or the first one that the go command
// can download.
func (t *trial) projectGo() []string {
	src, err := os.ReadFile(filepath.Join(t.dir, "go.mod"))
	if err != nil {
		return nil
	}
	file, err := modfile.ParseLax("go.mod", src, nil)
	if err != nil || file.Go == nil {
		return nil
	}
	version := file.Go.Version
	if strings.Count(version, ".") == 1 {
		version += ".0"
	}
	if first := "1.21.0"; semver.Compare("v"+version, "v"+first) < 0 {
		version = first
	}
	return []string{"GOTOOLCHAIN=go" + version}
}

// extend creates a kind with a controller and webhooks. It returns the folders of the new Go files.
func (t *trial) extend() (folders []string, failed string) {
	if r := t.prepare(); r.failed != "" {
		return nil, "-"
	}
	group, version, err := t.group()
	if err != nil {
		return nil, err.Error()
	}
	names := []string{"--group", group, "--version", version, "--kind", newKind}
	for _, args := range [][]string{{"create", "api"}, {"create", "webhook", "--defaulting", "--programmatic-validation"}} {
		r := t.exec(t.operon, slices.Concat(args, names, []string{"--output", "json"})...)
		if r.failed != "" {
			return nil, strings.Join(args[:2], " ") + ": " + r.failed
		}
		var report struct {
			Items    []struct{ Path, Class string }
			Warnings []struct{ Rule string }
		}
		if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
			return nil, err.Error()
		}
		for _, w := range report.Warnings {
			if w.Rule == "go-mod-tidy" {
				t.exec("go", "mod", "tidy")
			}
		}
		for _, c := range report.Items {
			if dir := "./" + path.Dir(c.Path); path.Ext(c.Path) == ".go" && !slices.Contains(folders, dir) {
				folders = append(folders, dir)
			}
		}
	}
	return folders, ""
}

// create reports whether the commands work, and whether all lines of the repository are still there.
func (t *trial) create() string {
	if _, failed := t.extend(); failed != "" {
		return failed
	}
	changed, err := operators.Changed(t.ctx, t.dir)
	if err != nil {
		return "**" + err.Error() + "**"
	}
	changed = slices.DeleteFunc(changed, t.isGenerated)
	lost, err := operators.Lost(t.ctx, t.dir, changed)
	switch {
	case err != nil:
		return "**" + err.Error() + "**"
	case len(lost) > 0:
		return fmt.Sprintf("**loses %d lines, such as** `%s`", len(lost), firstLine(lost[0]))
	}
	return "created"
}

// isGenerated reports whether operon recorded a file as generated, or writes it itself.
func (t *trial) isGenerated(name string) bool {
	var doc struct{ Files map[string]any }
	src, err := os.ReadFile(filepath.Join(t.dir, ".operon/generated.json"))
	if err != nil || json.Unmarshal(src, &doc) != nil {
		return false
	}
	_, generated := doc.Files[name]
	return generated || name == project.File
}

// vet reports whether the changed packages compile and pass go vet, with the tag of kubebuilder's e2e tests.
func (t *trial) vet() string {
	folders, failed := t.extend()
	if failed != "" {
		return "-"
	}
	for _, dir := range folders { // each one may be in a module of its own
		if r := t.exec("go", "-C", dir, "vet", "-tags", "e2e", "."); r.failed != "" {
			return r.failed
		}
	}
	return "passes"
}

// test reports whether the tests of the packages with new tests pass.
func (t *trial) test() string {
	folders, failed := t.extend()
	if failed != "" {
		return "-"
	}
	folders = slices.DeleteFunc(folders, func(dir string) bool {
		tests, err := filepath.Glob(filepath.Join(t.dir, dir, strings.ToLower(newKind)+"*_test.go"))
		return err != nil || len(tests) == 0
	})
	if len(folders) == 0 {
		return "the new code has none"
	}
	var broken []string
	for _, dir := range folders {
		r := t.exec(t.operon, "test", dir)
		if r.failed == "" {
			continue
		}
		failed, err := t.failedBefore(dir)
		if err != nil {
			return err.Error()
		}
		if !failed {
			return r.failed
		}
		broken = append(broken, dir)
	}
	if len(broken) > 0 {
		return "pass, except in " + strings.Join(broken, ", ") + ", whose suite fails here without the new kind, too"
	}
	return "pass"
}

// failedBefore reports whether the tests that a folder of the repository has fail without the new kind.
func (t *trial) failedBefore(dir string) (bool, error) {
	before := *t
	before.dir += "-before"
	if err := t.of.Copy(t.ctx, before.dir); err != nil {
		return false, err
	}
	if tests, err := filepath.Glob(filepath.Join(before.dir, dir, "*_test.go")); err != nil || len(tests) == 0 {
		return false, err
	}
	assets := t.exec(t.operon, "envtest", "path")
	before.env = append(slices.Clone(t.env), "KUBEBUILDER_ASSETS="+strings.TrimSpace(assets.stdout))
	return before.exec("go", "test", dir).failed != "", nil
}
