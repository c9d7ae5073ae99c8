package adopt

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/project"
)

// domainOf returns the domain of full API groups: their longest common suffix of whole labels. The domain of
// a single group is without the first label, if two labels remain.
func domainOf(groups []string) string {
	if len(groups) == 0 {
		return ""
	}
	common := strings.Split(groups[0], ".")
	for _, g := range groups[1:] {
		labels := strings.Split(g, ".")
		n := 0
		for n < min(len(common), len(labels)) && common[len(common)-1-n] == labels[len(labels)-1-n] {
			n++
		}
		common = common[len(common)-n:]
	}
	if len(groups) == 1 && len(common) > 2 {
		common = common[1:]
	}
	return strings.Join(common, ".")
}

// splitGroup returns the group and the domain of a full group in a project with a domain.
func splitGroup(full, domain string) (group, rest string) {
	if full == domain {
		return "", domain
	}
	if group, ok := strings.CutSuffix(full, "."+domain); ok && domain != "" {
		return group, domain
	}
	if group, rest, ok := strings.Cut(full, "."); ok && strings.Contains(rest, ".") {
		return group, rest
	}
	return full, ""
}

// defaultKustomization is the file that names the namespace of a project which kubebuilder started.
const defaultKustomization = "config/default/kustomization.yaml"

// projectName returns the name of a project without PROJECT: the namespace in its kustomization without -system,
// or the name of the repository.
func projectName(fsys fs.FS, m module, folder string) (name string, at place) {
	if src, err := fs.ReadFile(fsys, defaultKustomization); err == nil {
		if doc, err := yamledit.Decode(src); err == nil {
			for _, key := range []string{"namespace", "namePrefix"} {
				text, _ := doc.Value[key].(string)
				text = strings.TrimSuffix(strings.TrimSuffix(text, "-"), "-system")
				if project.CheckName(text) == nil {
					return text, place{defaultKustomization, doc.Line([]any{key})}
				}
			}
		}
	}
	base := path.Base(m.path)
	if project.CheckVersion(base) == nil { // a major version
		base = path.Base(path.Dir(m.path))
	}
	return cmp.Or(project.DefaultName(base), project.DefaultName(folder)), place{path.Join(m.dir, "go.mod"), 1}
}

// withoutKustomize says why the repository does not have the kustomizations that kubebuilder writes, and that the
// kustomize plugin edits for a new kind. It returns "" if it has them. That of the CRDs comes with the first kind.
func withoutKustomize(fsys fs.FS, hasKinds bool) string {
	needed := []string{defaultKustomization, "config/rbac/kustomization.yaml"}
	if hasKinds {
		needed = append(needed, "config/crd/kustomization.yaml")
	}
	for _, name := range needed {
		if _, err := fs.Stat(fsys, name); err != nil {
			return "there is no " + name
		}
	}
	if !listsCRDs(fsys) {
		return defaultKustomization + " does not list ../crd"
	}
	return ""
}

// listsCRDs reports whether the default kustomization lists the folder of CRDs. A comment is no entry: a team may
// install its CRDs apart.
func listsCRDs(fsys fs.FS) bool {
	src, err := fs.ReadFile(fsys, defaultKustomization)
	if err != nil {
		return false
	}
	doc, err := yamledit.Decode(src)
	if err != nil {
		return false
	}
	for _, key := range []string{"resources", "bases", "components"} {
		list, _ := doc.Value[key].([]any)
		if slices.ContainsFunc(list, func(entry any) bool { return entry == "../crd" || entry == "../crd/" }) {
			return true
		}
	}
	return false
}

// isNamespaced reports whether the manager has a Role and no ClusterRole for its markers.
func isNamespaced(fsys fs.FS) bool {
	src, err := fs.ReadFile(fsys, "config/rbac/role.yaml")
	return err == nil && strings.Contains(string(src), "\nkind: Role\n") && !strings.Contains(string(src), "\nkind: ClusterRole\n")
}
