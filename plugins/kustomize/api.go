package kustomize

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"go.yaml.in/yaml/v3"
)

// The files that operon adds lines to.
const (
	kustomization  = "kustomization.yaml"
	defaultEntries = "config/default/" + kustomization
	rbacEntries    = "config/rbac/" + kustomization
	crdEntries     = "config/crd/" + kustomization
	crdConfig      = "config/crd/kustomizeconfig.yaml"
	sampleEntries  = "config/samples/" + kustomization
	managerRole    = "config/rbac/role.yaml"
)

// createAPI plans what r needs in the cluster: its API, and the permission of
// its controller.
func (k Plugin) createAPI(e plugin.Event, p *scaffold.Plan) error {
	c, r := e.Project, *e.Resource
	if r.API != nil {
		if err := k.serve(c, r, p); err != nil {
			return err
		}
	}
	if err := labelSample(c, r, append(c.AllFeatures(r).Labels, e.Strings("label")...), p); err != nil {
		return err
	}
	if !needsClusterRole(c, r) && !reachesCluster(c, r, append(e.Strings("owns"), e.Strings("watches")...)) {
		return nil
	}
	if err := tree("kustomize/clusterrole", nil, initData(c), p, p.Seed); err != nil {
		return err
	}
	return list(p, rbacEntries, "", "cluster_role_binding.yaml")
}

// needsClusterRole reports whether the manager of a project that is limited to
// namespaces must also reach a kind that has none. Its generated permissions
// then are a Role and a ClusterRole.
func needsClusterRole(c *project.Config, r project.Resource) bool {
	return c.Namespaced && !c.IsNamespaced(r) && (r.Controller || len(r.Controllers) > 0)
}

// reachesCluster reports whether the manager of a project that is limited to
// namespaces must reach a kind that has none, because a controller of r has it
// beside its own. What asked holds beyond PROJECT is checked by the plugin that
// writes the controller.
func reachesCluster(c *project.Config, r project.Resource, asked []string) bool {
	have := c.AllFeatures(r)
	return c.Namespaced && slices.ContainsFunc(slices.Concat(have.Owns, have.Watches, asked), func(name string) bool {
		t, err := c.Target("owns", name)
		return err == nil && !c.IsNamespaced(t)
	})
}

// labelSample gives the sample of r the labels, each key=value, without which its
// controllers leave it alone. A sample that the user took away stays away.
func labelSample(c *project.Config, r project.Resource, labels []string, p *scaffold.Plan) error {
	name := c.SamplePath(r)
	if r.HasExternalTypes() || !p.Exists(name) {
		return nil
	}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		if !p.Seeded(name) && labelled(name, key, value, p) {
			continue // the user took it out
		}
		err := p.Edit(name, func(src []byte) ([]byte, error) {
			return yamledit.Set(src, []string{"metadata", "labels"}, key, value)
		})
		if err != nil {
			return &fault.Error{Code: fault.Code(err), Msg: "edit " + name, Err: err,
				Hint: "add this by hand below its metadata, then repeat the command:\nlabels:\n  " + key + ": " + yamledit.Scalar(value)}
		}
	}
	return nil
}

// labelled reports whether operon gave a sample the label already.
func labelled(name, key, value string, p *scaffold.Plan) bool {
	var s struct {
		Metadata struct{ Labels map[string]string }
	}
	_, base, err := p.Before(name)
	if err != nil || yaml.Unmarshal(base, &s) != nil {
		return false
	}
	have, ok := s.Metadata.Labels[key]
	return ok && have == value
}

// serve plans the sample and the users' roles of r, and lists them and its CRD
// in the kustomizations.
func (k Plugin) serve(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	// Lists that are not there yet name all that belongs in them, so that one
	// the user deleted does not come back with r alone.
	crds, samples := []project.Resource{r}, []project.Resource{r}
	if !p.Exists(crdEntries) {
		crds = withAPI(c, r)
	}
	if !p.Exists(sampleEntries) {
		samples = present(c, withAPI(c, r), r, p)
	}
	roles := newRoles(apiVars(c, r, p)["role"], p)
	if err := k.api(c, r, p, k.apiSink(c, r, p)); err != nil {
		return err
	}
	for _, r := range crds {
		if err := list(p, crdEntries, "crdkustomizeresource", crdBase(r)); err != nil {
			return err
		}
	}
	for _, r := range samples {
		if !p.Exists(c.SamplePath(r)) {
			continue // the user deleted it
		}
		if err := list(p, sampleEntries, "manifestskustomizesamples", path.Base(c.SamplePath(r))); err != nil {
			return err
		}
	}
	for _, role := range roles {
		if !p.Exists("config/rbac/" + role) {
			continue // the user deleted it
		}
		if err := list(p, rbacEntries, "", role); err != nil {
			return err
		}
	}
	return change(p, defaultEntries, "resources", "- ../crd", func(src []byte) ([]byte, error) {
		return yamledit.Uncomment(src, "- ../crd", path.Dir(defaultEntries))
	})
}

// apiVars are the parts of paths of what belongs to r.
func apiVars(c *project.Config, r project.Resource, p *scaffold.Plan) map[string]string {
	return map[string]string{"role": strings.Join(roleWords(c, r, p), "_"), "sample": strings.TrimSuffix(path.Base(c.SamplePath(r)), ".yaml")}
}

// apiSink is a sink for what belongs to r. The sample of a further version may
// have become, after it was seeded, what the user had in the one before that day:
// one that is there is not planned again. One that follows a CRD is the user's once
// it is edited: what would be made today is nothing to merge into it.
func (k Plugin) apiSink(c *project.Config, r project.Resource, p *scaffold.Plan) render.Sink {
	seed := seedOrKeep(p)
	if p.Forced() {
		return seed
	}
	return func(name string, mode fs.FileMode, content []byte) error {
		switch {
		case name != c.SamplePath(r):
		case further(c, r) && p.Exists(name):
			return nil
		case k.KindsOnly:
			disk, base, err := p.Before(name)
			if err != nil {
				return err
			}
			if disk != nil && base != nil && !bytes.Equal(disk, base) {
				content = base
			}
		}
		return seed(name, mode, content)
	}
}

// newRoles returns the files of the users' roles that are not there yet: the
// user may have taken the others out of the list.
func newRoles(kind string, p *scaffold.Plan) []string {
	var files []string
	for _, role := range usersRoles {
		file := kind + "_" + role + "_role.yaml"
		if !p.Exists("config/rbac/" + file) {
			files = append(files, file)
		}
	}
	return files
}

// list adds entry to the resources of the kustomization at name.
func list(p *scaffold.Plan, name, marker, entry string) error {
	return change(p, name, "resources", "- "+entry, func(src []byte) ([]byte, error) {
		return yamledit.Append(src, entry, yamledit.ListAnchor{Path: []string{"resources"}, Marker: marker, Dir: path.Dir(name)})
	})
}

// change edits the list at key of the kustomization at name. Where that cannot
// be done, the error says which line belongs in it.
func change(p *scaffold.Plan, name, key, line string, f func([]byte) ([]byte, error)) error {
	err := p.Edit(name, f)
	if errors.Is(err, fs.ErrNotExist) {
		return missing(name, key, line)
	}
	if err == nil {
		return nil
	}
	return &fault.Error{
		Code: fault.Code(err),
		Msg:  "edit " + name,
		Hint: "add this by hand below " + key + " in " + name + ", then repeat the command:\n" + line,
		Err:  err,
	}
}

// missing reports a kustomization that is not there, although line belongs in it.
func missing(name, key, line string) error {
	first, _, _ := strings.Cut(line, "\n")
	return fault.Failed("restore it from version control, or write a "+path.Base(name)+" with:\n"+key+":\n"+line,
		"%s is missing, but must contain %q", name, first)
}

// crdBase is the CRD's path below config/crd, as controller-gen names it.
func crdBase(r project.Resource) string {
	return "bases/" + r.QualifiedGroup() + "_" + r.PluralName() + ".yaml"
}

// withAPI returns the project's resources that have a CRD here, r among them.
func withAPI(c *project.Config, r project.Resource) []project.Resource {
	var all []project.Resource
	found := false
	for _, have := range c.Resources {
		found = found || have.SameVersion(r)
		if have.API != nil {
			all = append(all, have)
		}
	}
	if !found {
		all = append(all, r)
	}
	return all
}

// present leaves out the resources, other than r, whose sample is gone.
func present(c *project.Config, all []project.Resource, r project.Resource, p *scaffold.Plan) []project.Resource {
	var kept []project.Resource
	for _, have := range all {
		if have.SameVersion(r) || p.Exists(c.SamplePath(have)) {
			kept = append(kept, have)
		}
	}
	return kept
}
