package kustomize

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/fields"
	"github.com/operon-dev/operon/plugins/internal/kustomizefile"
)

// The kustomizations that operon edits.
const (
	kustomization  = "kustomization.yaml"
	defaultEntries = "config/default/" + kustomization
	rbacEntries    = "config/rbac/" + kustomization
	crdEntries     = "config/crd/" + kustomization
	crdConfig      = "config/crd/kustomizeconfig.yaml"
	sampleEntries  = "config/samples/" + kustomization
	managerRole    = "config/rbac/role.yaml"
)

// createAPI plans the manifests of r: its API, and the permissions of its controllers.
func (k Plugin) createAPI(e plugin.Event, p *scaffold.Plan) error {
	c, r := e.Project, *e.Resource
	if err := fields.Record(e); err != nil {
		return err
	}
	if users, err := isUsersSample(c, r, p); err != nil {
		return err
	} else if users {
		if err := fitNamespace(c.SamplePath(r), c.Namespace(), c.Namespaced && c.IsNamespaced(r), p); err != nil {
			return err
		}
	}
	if r.API != nil {
		if err := k.serve(c, r, p); err != nil {
			return err
		}
		if err := addRequired(e, p); err != nil {
			return err
		}
	}
	if err := labelSample(c, r, sampleLabels(e), p); err != nil {
		return err
	}
	if err := addImage(e, p); err != nil {
		return err
	}
	if !needsClusterRole(c, r) && !reachesCluster(c, r, append(e.Strings("owns"), e.Strings("watches")...)) {
		return nil
	}
	if err := tree("kustomize/clusterrole", nil, initData(c), p, p.Seed); err != nil {
		return err
	}
	return list(p, rbacEntries, "", path.Base(clusterBinding))
}

// needsClusterRole reports whether a namespaced manager must also access a cluster-scoped
// kind. Its generated permissions are then a Role and a ClusterRole.
func needsClusterRole(c *project.Config, r project.Resource) bool {
	return c.Namespaced && !c.IsNamespaced(r) && (r.Controller || len(r.Controllers) > 0)
}

// reachesCluster reports whether a namespaced manager must access a cluster-scoped kind
// because a controller of r owns or watches it. requested contains kinds that PROJECT does
// not record yet; the plugin that writes the controller validates them.
func reachesCluster(c *project.Config, r project.Resource, requested []string) bool {
	have := c.AllFeatures(r)
	return c.Namespaced && slices.ContainsFunc(slices.Concat(have.Owns, have.Watches, requested), func(name string) bool {
		t, err := c.Target("owns", name)
		return err == nil && !c.IsNamespaced(t)
	})
}

// serve plans the sample and the users' roles of r, and lists them and its CRD in the
// kustomizations.
func (k Plugin) serve(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	// A new list contains all entries. Otherwise a list that the user deleted would
	// return with only r.
	crds, samples := []project.Resource{r}, []project.Resource{r}
	listed, err := findCRDs(c, r, p)
	if err != nil {
		return err
	}
	if listed.file == crdEntries && !p.Exists(crdEntries) {
		crds = withAPI(c, r)
	}
	if !p.Exists(sampleEntries) {
		samples = present(c, withAPI(c, r), r, p)
	}
	leftOut := hasTheirDefault(p) && p.Exists(crdEntries) // unless config/default lists it: the project installs CRDs in another way
	roles, err := newRoles(apiVars(c, r, p)["role"], r, p)
	if err != nil {
		return err
	}
	if err := k.api(c, r, p, k.apiSink(c, r, p)); err != nil {
		return err
	}
	for _, r := range crds {
		if listed.file == "" {
			break // the repository installs its CRDs in another way
		}
		if err := list(p, listed.file, "crdkustomizeresource", path.Join(listed.dir, path.Base(crdBase(r)))); err != nil {
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
	if listed.file != crdEntries || leftOut {
		return nil
	}
	return kustomizefile.Edit(p, defaultEntries, "resources", "- ../crd", func(src []byte) ([]byte, error) {
		return yamledit.Uncomment(src, "- ../crd", path.Dir(defaultEntries))
	})
}

// apiVars returns the variables in the paths of files of r.
func apiVars(c *project.Config, r project.Resource, p *scaffold.Plan) map[string]string {
	return map[string]string{"role": strings.Join(roleWords(c, r, p), "_"), "sample": strings.TrimSuffix(path.Base(c.SamplePath(r)), ".yaml")}
}

// apiSink is a sink for the files of r. It does not plan the user's sample again.
func (k Plugin) apiSink(c *project.Config, r project.Resource, p *scaffold.Plan) render.Sink {
	seed := plugin.SeedOwn(p)
	noRoles := hasTheirDefault(p) && !p.Exists(rbacEntries) // nothing would include them
	return func(name string, mode fs.FileMode, content []byte) error {
		if noRoles && path.Dir(name) == path.Dir(rbacEntries) {
			return nil
		}
		if name == c.SamplePath(r) {
			if k.Charts {
				return nil
			}
			if users, err := isUsersSample(c, r, p); users || err != nil {
				return err
			}
		}
		return seed(name, mode, content)
	}
}

// newRoles returns the files of the users' roles to list: those that do not exist yet, and all if
// the list is new, or PROJECT does not have r, such as after a merge that kept the PROJECT of
// another branch. The user may have removed the others from the list.
func newRoles(kind string, r project.Resource, p *scaffold.Plan) ([]string, error) {
	known, err := hasAPI(r, p)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, role := range usersRoles {
		file := kind + "_" + role + "_role.yaml"
		if !known || p.Creates(rbacEntries) || !p.Exists("config/rbac/"+file) {
			files = append(files, file)
		}
	}
	return files, nil
}

// hasAPI reports whether the PROJECT file on the disk has the API of r.
func hasAPI(r project.Resource, p *scaffold.Plan) (bool, error) {
	src, _, err := p.Before("PROJECT")
	if err != nil || src == nil {
		return false, err
	}
	c, err := project.Parse(src)
	if err != nil {
		return false, err
	}
	old := c.Find(r.Group, r.Version, r.Kind)
	return old != nil && old.API != nil, nil
}

// list adds an entry to the resources of a kustomization.
func list(p *scaffold.Plan, file, marker, entry string) error {
	return kustomizefile.Item{File: file, Key: "resources", Text: entry, Marker: marker}.Add(p)
}

// crdBase returns the path of the CRD below config/crd, with controller-gen's file name.
func crdBase(r project.Resource) string {
	return "bases/" + r.QualifiedGroup() + "_" + r.PluralName() + ".yaml"
}

// withAPI returns the project's resources that have a CRD in the project, including r.
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

// present omits the resources, other than r, whose sample does not exist.
func present(c *project.Config, all []project.Resource, r project.Resource, p *scaffold.Plan) []project.Resource {
	var kept []project.Resource
	for _, have := range all {
		if have.SameVersion(r) || p.Exists(c.SamplePath(have)) {
			kept = append(kept, have)
		}
	}
	return kept
}
