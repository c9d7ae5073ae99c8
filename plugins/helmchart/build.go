package helmchart

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/workload"
	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

const (
	configDir   = "config"
	defaultFile = configDir + "/default/kustomization.yaml"
)

// build has the objects that the chart installs.
type build struct {
	namespace string // of the kustomization config/default
	prefix    string // its namePrefix
	objects   []object
	optional  map[string]bool // the groups of objects that config/default does not list
}

// object is an object of a kustomization, as a document of YAML.
type object struct {
	kustomize.Object
	root    *yaml.Node
	base    string     // its name without the prefix, which can have any words
	manager *yaml.Node // the container of the manager, in its Deployment
}

// optionalDirs are the folders of config that config/default lists as comments, by the group of their
// objects in the chart.
var optionalDirs = map[string]string{prometheusGroup: configDir + "/prometheus", policyGroup: configDir + "/network-policy"}

// buildObjects builds config/default of the plan together with the optional folders that no kustomization lists.
func buildObjects(p *scaffold.Plan) (*build, error) {
	files, err := p.ReadBelow(configDir)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for name, content := range files {
		all[path.Join(configDir, name)] = content
	}
	s := settingsOf(all[defaultFile])
	b := &build{namespace: s.Namespace, prefix: s.NamePrefix, optional: map[string]bool{}}
	complete, groups := withOptional(all)
	if err := b.add(complete); err != nil {
		if alone := b.add(all); alone != nil {
			return nil, alone
		}
		if !slices.ContainsFunc(groups, b.has) { // an object of the user may have the name of an optional one
			return nil, err
		}
	}
	for _, group := range groups {
		inDir := func(o object) bool { return strings.HasPrefix(o.File, optionalDirs[group]+"/") }
		if slices.ContainsFunc(b.objects, func(o object) bool { return groupOf(o) == group && !inDir(o) }) {
			b.objects = slices.DeleteFunc(b.objects, inDir) // the user has others
		} else {
			b.optional[group] = true
		}
	}
	return b, b.findManager()
}

// settings are those of a kustomization.
type settings struct {
	Namespace, NamePrefix string
	Resources, Bases      []string
}

// settingsOf reads the settings as kustomize does, which accepts a key that occurs twice.
func settingsOf(content []byte) (s settings) {
	_ = kyaml.Unmarshal(content, &s) // kustomize reports what is wrong
	return s
}

// has reports whether the kustomization has objects of a group.
func (b *build) has(group string) bool {
	return slices.ContainsFunc(b.objects, func(o object) bool { return groupOf(o) == group })
}

// withOptional makes config/default list the optional folders that no kustomization lists, and returns their groups.
func withOptional(files map[string][]byte) (complete map[string][]byte, groups []string) {
	listed := map[string]bool{}
	for name, content := range files {
		if path.Base(name) == "kustomization.yaml" {
			k := settingsOf(content)
			for _, r := range append(k.Resources, k.Bases...) {
				listed[path.Join(path.Dir(name), r)] = true
			}
		}
	}
	complete = maps.Clone(files)
	for _, group := range slices.Sorted(maps.Keys(optionalDirs)) {
		dir := optionalDirs[group]
		content, err := yamledit.Append(complete[defaultFile], "../"+path.Base(dir), yamledit.ListAnchor{Path: []string{"resources"}})
		if err == nil && complete[defaultFile] != nil && files[dir+"/kustomization.yaml"] != nil && !listed[dir] {
			complete[defaultFile], groups = content, append(groups, group)
		}
	}
	return complete, groups
}

// add replaces the objects by those of config/default, without its namespace, which the user of a chart chooses.
func (b *build) add(files map[string][]byte) error {
	built, err := kustomize.BuildFiles(files, path.Join(configDir, "default"), kustomize.Options{})
	if err != nil {
		return err
	}
	b.objects = nil
	for _, o := range built.Objects {
		if o.GetKind() == "Namespace" && o.GetName() == b.namespace {
			continue
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(o.YAML, &doc); err != nil || len(doc.Content) != 1 {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		b.objects = append(b.objects, object{Object: o, root: doc.Content[0], base: strings.TrimPrefix(o.GetName(), b.prefix)})
	}
	return nil
}

// findManager marks the container of the manager, which must be in a Deployment.
func (b *build) findManager() error {
	var deployments []workload.Object
	var indexes []int
	for i, o := range b.objects {
		if d := workload.Object(o.Object.Object); d.Runs() && d.Kind() == "Deployment" {
			deployments, indexes = append(deployments, d), append(indexes, i)
		}
	}
	dir := path.Dir(defaultFile)
	if len(deployments) == 0 {
		return fault.Failed("add the Deployment that runs the manager to "+dir, "%s has no Deployment", dir)
	}
	i, err := workload.Manager(deployments, dir)
	if err != nil {
		return err
	}
	o := &b.objects[indexes[i]]
	o.manager = items(at(o.root, "spec", "template", "spec", "containers"))[deployments[i].Container()]
	return nil
}

// The groups of objects: the folders in templates.
const (
	managerGroup    = "manager"
	rbacGroup       = "rbac"
	crdGroup        = "crd"
	webhookGroup    = "webhook"
	certGroup       = "cert-manager"
	metricsGroup    = "metrics"
	prometheusGroup = "prometheus"
	policyGroup     = "network-policy"
	extraGroup      = "extra" // what the user added
)

// groupOf returns the group of an object.
func groupOf(o object) string {
	api, _, _ := strings.Cut(o.GetAPIVersion(), "/")
	switch {
	case strings.HasPrefix(o.File, path.Join(configDir, "certificates")+"/"), strings.HasSuffix(o.GetKind(), "WebhookConfiguration"):
		return webhookGroup
	case strings.HasPrefix(o.File, optionalDirs[prometheusGroup]+"/"):
		return prometheusGroup
	case strings.HasPrefix(o.File, optionalDirs[policyGroup]+"/"):
		return policyGroup
	case o.GetKind() == "CustomResourceDefinition":
		return crdGroup
	case o.manager != nil:
		return managerGroup
	case o.GetKind() == "ServiceAccount", api == "rbac.authorization.k8s.io":
		return rbacGroup
	case api == "cert-manager.io":
		return certGroup
	case api == "monitoring.coreos.com":
		return prometheusGroup
	case o.GetKind() == "NetworkPolicy":
		return policyGroup
	case o.GetKind() == "Service" && strings.Contains(o.base, "metrics"):
		return metricsGroup
	case o.GetKind() == "Service" && strings.Contains(o.base, "webhook"):
		return webhookGroup
	}
	return extraGroup
}

// conditions returns the values on which an object depends: all must be true.
func (c *chart) conditions(o object, group string) []string {
	about := func(part string) bool { return strings.Contains(o.base, part) }
	switch group {
	case managerGroup:
		return []string{"manager.enabled"}
	case crdGroup:
		return []string{"crd.enabled"}
	case webhookGroup:
		return []string{"webhook.enabled"}
	case metricsGroup:
		return []string{"metrics.enabled"}
	case prometheusGroup:
		return []string{"prometheus.enabled", "metrics.enabled"}
	case certGroup, policyGroup:
		all := []string{map[string]string{certGroup: "certManager.enabled", policyGroup: "networkPolicy.enabled"}[group]}
		switch {
		case o.GetKind() == "Issuer":
		case about("metrics"):
			all = append(all, "metrics.enabled")
		case about("webhook"), about("serving-cert"):
			all = append(all, "webhook.enabled")
		}
		return all
	case rbacGroup:
		switch {
		case isHelperRole(o):
			return []string{"rbac.helpers.enabled"}
		case strings.HasPrefix(o.base, "metrics-") && c.insecure:
			return []string{"metrics.enabled"}
		case strings.HasPrefix(o.base, "metrics-"):
			return []string{"metrics.enabled", "metrics.secure"}
		case c.isAccount(o):
			return []string{"serviceAccount.enabled"}
		}
	}
	return nil
}

// isHelperRole reports whether an object is one of the roles for the users of a kind.
func isHelperRole(o object) bool {
	kind, name := o.GetKind(), o.GetName()
	return (kind == "ClusterRole" || kind == "Role") &&
		(strings.HasSuffix(name, "-admin-role") || strings.HasSuffix(name, "-editor-role") || strings.HasSuffix(name, "-viewer-role"))
}
