package kustomize

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/kustomizefile"
	"github.com/operon-dev/operon/plugins/internal/workload"
	"go.yaml.in/yaml/v3"
)

const clusterBinding = "config/rbac/cluster_role_binding.yaml"

// editProject changes the manifests from e.Before to e.Project. In a project that operon
// initialized, a replay follows, which changes the files that operon seeded. All others are
// edited in place.
func editProject(e plugin.Event, p *scaffold.Plan) error {
	c := e.Project
	if err := changeCertificates(e, p); err != nil || e.Before.Namespaced == c.Namespaced {
		return err
	}
	if err := bindCluster(c, p); err != nil {
		return err
	}
	old, next := roleKind(e.Before.Namespaced), roleKind(c.Namespaced)
	if err := editInPlace(p, "config/rbac/role_binding.yaml",
		values{"kind": old + "Binding", "roleRef": values{"kind": old}},
		values{"kind": next + "Binding", "roleRef": values{"kind": next}}); err != nil {
		return err
	}
	if err := workload.WatchOwn(c.Namespaced, p); err != nil {
		return err
	}
	if p.Exists(caReplacements) && p.HasBase(caReplacements) {
		if err := tree("kustomize/cainjection", nil, initData(c), p, p.Seed); err != nil {
			return err
		}
	}
	for _, r := range c.Resources {
		if r.API == nil || !r.API.Namespaced {
			continue
		}
		for _, role := range usersRoles {
			name := "config/rbac/" + strings.Join(roleWords(c, r, p), "_") + "_" + role + "_role.yaml"
			if err := editInPlace(p, name, values{"kind": old}, values{"kind": next}); err != nil {
				return err
			}
		}
		was, want := values{"metadata": values{}}, values{"metadata": values{"namespace": c.Namespace()}}
		if !c.Namespaced {
			was, want = want, was
		}
		if err := editInPlace(p, c.SamplePath(r), was, want); err != nil {
			return err
		}
	}
	return nil
}

type values = map[string]any

// editInPlace changes the fields was of a file to want, unless the replay plans the file again. It
// does not change a file with other values, because they are a decision of the user.
func editInPlace(p *scaffold.Plan, name string, was, want values) error {
	if replayed := p.HasBase("Makefile") && p.HasBase(name); replayed || !p.Exists(name) {
		return nil
	}
	return p.Edit(name, func(src []byte) ([]byte, error) {
		var have values
		if err := yaml.Unmarshal(src, &have); err != nil || !contains(have, was) {
			return src, nil
		}
		return yamledit.Reconcile(src, was, want, nil)
	})
}

// contains reports whether whole contains all of part.
func contains(whole, part values) bool {
	for key, value := range part {
		inner, nested := value.(values)
		have, _ := whole[key].(values)
		if nested && !contains(have, inner) || !nested && whole[key] != value {
			return false
		}
	}
	return true
}

// bindCluster binds the cluster-scoped rules of a namespaced manager, and removes the binding
// if the manager has cluster-wide access anyway.
func bindCluster(c *project.Config, p *scaffold.Plan) error {
	if c.Namespaced {
		if !rulesForCluster(c, p) {
			return nil
		}
		if err := tree("kustomize/clusterrole", nil, initData(c), p, p.Seed); err != nil {
			return err
		}
		return list(p, rbacEntries, "", path.Base(clusterBinding))
	}
	if err := p.Discard(map[string][]byte{clusterBinding: nil}); err != nil || p.Exists(clusterBinding) || !p.Exists(rbacEntries) {
		return err
	}
	return kustomizefile.Item{File: rbacEntries, Key: "resources", Text: path.Base(clusterBinding)}.Remove(p)
}

// rulesForCluster reports whether the last generated role of the manager has cluster-scoped
// rules.
func rulesForCluster(c *project.Config, p *scaffold.Plan) bool {
	src, err := p.Read(managerRole)
	if err != nil {
		return false
	}
	var role struct {
		Rules []struct {
			APIGroups       []string `yaml:"apiGroups"`
			Resources       []string
			NonResourceURLs []string `yaml:"nonResourceURLs"`
		}
	}
	if yaml.Unmarshal(src, &role) != nil {
		return false
	}
	for _, rule := range role.Rules {
		if len(rule.NonResourceURLs) > 0 {
			return true
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				if namespaced, known := c.ScopeOf(group, resource); known && !namespaced {
					return true
				}
			}
		}
	}
	return false
}
