package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/project"
)

// commit commits what the commands wrote.
func (t *trial) commit() {
	t.exec("git", "add", "-A", "--force")
	t.exec("git", "-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "-qm", "operon")
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

// generate reports whether operon generate writes the files of the project, or asks about those that others change.
func (t *trial) generate() string {
	if r := t.prepare(); r.failed != "" {
		return "-"
	}
	t.commit()
	r := t.exec(t.operon, "generate")
	if what, asks := strings.CutSuffix(r.failed, " that operon did not make; nothing was written"); asks {
		return "asks: " + what
	}
	if r.failed != "" {
		return r.failed
	}
	return "generates"
}

// kustomize reports whether config/default still builds after a new kind with webhooks.
func (t *trial) kustomize() string {
	const folder = "config/default"
	if _, err := os.Stat(filepath.Join(t.dir, folder)); err != nil {
		return "no " + folder
	}
	before := t.exec(t.operon, "kustomize", "build", folder)
	if _, failed := t.extend(); failed != "" {
		return "-"
	}
	switch after := t.exec(t.operon, "kustomize", "build", folder); {
	case after.failed == "":
		return "builds"
	case before.failed != "":
		return "does not build before, either"
	default:
		return "**breaks: " + after.failed + "**"
	}
}

// crdNames matches the scope and the short names in a CRD, with which users and clusters know a kind.
var crdNames = regexp.MustCompile(`(?m)^  (?:scope: .*|names:\n(?:    .*\n)+)`)

// crds returns the names and the scope in each CRD of the project, by path.
func (t *trial) crds() map[string]string {
	found := map[string]string{}
	_ = filepath.WalkDir(t.dir, func(name string, d fs.DirEntry, err error) error { // unreadable folders have none
		if err != nil || d.IsDir() || filepath.Ext(name) != ".yaml" {
			return nil //nolint:nilerr // as above
		}
		src, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(src), "kind: CustomResourceDefinition\n") {
			found[name] = strings.Join(crdNames.FindAllString(string(src), -1), "")
		}
		return nil
	})
	return found
}

// secondVersion reports whether a second version of a kind leaves the scope and the names of all CRDs.
func (t *trial) secondVersion() string {
	if r := t.prepare(); r.failed != "" {
		return "-"
	}
	src, err := os.ReadFile(filepath.Join(t.dir, project.File))
	if err != nil {
		return err.Error()
	}
	cfg, err := project.Parse(src)
	if err != nil {
		return err.Error()
	}
	i := slices.IndexFunc(cfg.Resources, func(r project.Resource) bool { return r.API != nil && !r.HasExternalTypes() })
	if i < 0 {
		return "PROJECT has no kind"
	}
	r := cfg.Resources[i]
	before := t.crds()
	args := []string{"create", "api", "--group", r.Group, "--version", "v99", "--kind", r.Kind, "--controller=false",
		fmt.Sprintf("--namespaced=%t", r.API.Namespaced)}
	if r.Plural != "" {
		args = append(args, "--plural", r.Plural)
	}
	if res := t.exec(t.operon, args...); res.failed != "" {
		return res.failed
	}
	after := t.crds()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if before[name] != after[name] {
			rel, _ := filepath.Rel(t.dir, name)
			return "**changes names or scope in " + filepath.ToSlash(rel) + "**"
		}
	}
	return "created"
}

// multigroup reports whether the repository compiles after operon edit --multigroup.
func (t *trial) multigroup() string {
	if r := t.prepare(); r.failed != "" {
		return "-"
	}
	r := t.exec(t.operon, "edit", "--multigroup")
	switch {
	case r.failed != "":
		return r.failed
	case strings.HasSuffix(r.stdout, "nothing to do\n"):
		return "is multigroup"
	}
	if built := t.exec("go", "build", "./..."); built.failed != "" {
		if t.exec("git", "stash", "-u", "-q"); t.exec("go", "build", "./...").failed != "" {
			return "does not compile before, either"
		}
		return "**" + built.failed + "**"
	}
	return "compiles"
}
