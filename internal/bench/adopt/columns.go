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
	switch r := t.prepare(); {
	case r.failed != "":
		return "**" + r.failed + "**"
	case !strings.HasSuffix(r.stdout, "nothing to do\n"):
		return "**changes " + firstLine(r.stdout[strings.LastIndex(strings.TrimSpace(r.stdout), "\n")+1:]) + "**"
	}
	return "nothing to do"
}

// check reports how the generated files of the repository differ from what operon generates.
func (t *trial) check() string {
	if r := t.prepare(); r.failed != "" {
		return "-"
	}
	r := t.exec(t.operon, "generate", "--check", "--output", "json")
	var report struct {
		Differences []struct {
			Path    string
			Version *struct{ From, To string }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		return r.failed
	}
	if len(report.Differences) == 0 {
		if r.failed != "" {
			return r.failed
		}
		return "clean"
	}
	var versions, others []string
	for _, d := range report.Differences {
		if d.Version != nil {
			versions = append(versions, d.Version.From)
		} else {
			others = append(others, d.Path)
		}
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	if len(others) == 0 {
		return "only the version of controller-tools (" + strings.Join(versions, ", ") + ")"
	}
	return fmt.Sprintf("%d files differ, such as `%s`", len(others), others[0])
}

// group returns the group and the version of a kind of the operator.
func (t *trial) group() (group, version string, err error) {
	src, err := os.ReadFile(filepath.Join(t.dir, project.File))
	if err != nil {
		return "", "", err
	}
	cfg, err := project.Parse(src)
	if err != nil {
		return "", "", err
	}
	for _, r := range slices.Backward(cfg.Resources) {
		if r.API != nil && project.CheckVersion(r.Version) == nil {
			return r.Group, r.Version, nil
		}
	}
	return "", "", fmt.Errorf("PROJECT has no kind")
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
			Changes []struct{ Path, Class string }
		}
		if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
			return nil, err.Error()
		}
		for _, c := range report.Changes {
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

// vet reports whether the changed packages compile and pass go vet.
func (t *trial) vet() string {
	folders, failed := t.extend()
	if failed != "" {
		return "-"
	}
	if r := t.exec("go", append([]string{"vet"}, folders...)...); r.failed != "" {
		return r.failed
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
	if r := t.exec(t.operon, append([]string{"test"}, folders...)...); r.failed != "" {
		return r.failed
	}
	return "pass"
}
