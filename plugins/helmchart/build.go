package helmchart

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/workload"
	"go.yaml.in/yaml/v3"
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
	manager *yaml.Node // the container of the manager, in its Deployment
}

// optionalDirs are the folders of config that config/default lists as comments, by the group of their
// objects in the chart.
var optionalDirs = map[string]string{prometheusGroup: "prometheus", policyGroup: "network-policy"}

// buildObjects builds config/default of the plan, and the optional folders that it does not list.
func buildObjects(p *scaffold.Plan) (*build, error) {
	files, err := p.ReadBelow(configDir)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for name, content := range files {
		all[path.Join(configDir, name)] = content
	}
	b := &build{optional: map[string]bool{}}
	settings := map[string]any{}
	if err := yaml.Unmarshal(all[defaultFile], &settings); err == nil {
		b.namespace, b.prefix = jsonvalue.String(settings, "namespace"), jsonvalue.String(settings, "namePrefix")
	}
	if err := b.add(all, path.Join(configDir, "default")); err != nil {
		return nil, err
	}
	if err := b.findManager(); err != nil {
		return nil, err
	}
	maps.DeleteFunc(settings, func(key string, _ any) bool {
		return !slices.Contains([]string{"namespace", "namePrefix", "nameSuffix", "labels", "commonLabels", "commonAnnotations"}, key)
	})
	for _, group := range slices.Sorted(maps.Keys(optionalDirs)) {
		listed := slices.ContainsFunc(b.objects, func(o object) bool { return groupOf(o) == group })
		dir := path.Join(configDir, optionalDirs[group])
		if _, exists := all[path.Join(dir, "kustomization.yaml")]; listed || !exists {
			continue
		}
		top := path.Join(configDir, ".chart")
		settings["resources"] = []string{"../" + optionalDirs[group]}
		if all[path.Join(top, "kustomization.yaml")], err = yaml.Marshal(settings); err != nil {
			return nil, err
		}
		if err := b.add(all, top); err != nil {
			return nil, err
		}
		b.optional[group] = true
	}
	return b, nil
}

// add adds the objects of a kustomization, but no namespace, which the user of a chart chooses.
func (b *build) add(files map[string][]byte, dir string) error {
	built, err := kustomize.BuildFiles(files, dir, kustomize.Options{})
	if err != nil {
		return err
	}
	for _, o := range built.Objects {
		if o.GetKind() == "Namespace" {
			continue
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(o.YAML, &doc); err != nil || len(doc.Content) != 1 {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		b.objects = append(b.objects, object{Object: o, root: doc.Content[0]})
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
	case strings.HasPrefix(o.File, path.Join(configDir, "certificates")+"/"), api == "admissionregistration.k8s.io":
		return webhookGroup
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
	case o.GetKind() == "Service" && strings.Contains(o.GetName(), "metrics"):
		return metricsGroup
	case o.GetKind() == "Service" && strings.Contains(o.GetName(), "webhook"):
		return webhookGroup
	}
	return extraGroup
}

// conditions returns the values on which an object depends: all must be true.
func (c *chart) conditions(o object, group string) []string {
	about := func(part string) bool { return strings.Contains(o.GetName(), part) }
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
		case about("metrics-") && c.insecure:
			return []string{"metrics.enabled"}
		case about("metrics-"):
			return []string{"metrics.enabled", "metrics.secure"}
		case o.GetKind() == "ServiceAccount":
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
