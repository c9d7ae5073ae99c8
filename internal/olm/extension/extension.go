// Package extension makes the objects that install a bundle with OLM v1: a
// ClusterCatalog, a ClusterExtension, and the ServiceAccount of the installer with the least
// permissions. The functions are pure: data in, data out.
//
// What OLM v1 makes of a bundle is in
// github.com/operator-framework/operator-controller, which is not a Go module that others can
// import.
package extension

import (
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
)

const group = "olm.operatorframework.io"

// Options say how a bundle is installed.
type Options struct {
	Name           string // of the ClusterExtension
	Namespace      string // of the operator
	Watch          string // the only namespace that the operator watches; "": all, or else its own
	Channels       []string
	Version        string // a range of versions; "": any
	ServiceAccount string // of the installer, in Namespace; "" for none
	Catalog        string // the name of the ClusterCatalog; "" for any
	CatalogImage   string // "": there is a ClusterCatalog
	WatchHint      string // for an operator that needs Watch: how the user sets it
}

// Object is an object of Kubernetes.
type Object = map[string]any

// Objects returns the objects, in the order in which they can be applied.
func Objects(b *bundle.Bundle, o Options) ([]Object, error) {
	watch, err := watched(b, o)
	if err != nil {
		return nil, err
	}
	if b.CreatesAccount(o.ServiceAccount) {
		return nil, fault.Usage("name another one, or leave out --service-account",
			"the bundle creates the ServiceAccount %s, and OLM does not install a bundle over what is there", o.ServiceAccount)
	}
	all := []Object{object("v1", "Namespace", "", o.Namespace, nil)}
	if o.CatalogImage != "" {
		all = append(all, object(group+"/v1", "ClusterCatalog", "", o.Catalog, Object{
			"source": Object{"type": "Image", "image": Object{"ref": o.CatalogImage}},
		}))
	}
	if o.ServiceAccount != "" {
		all = append(all, installer(b, o, watch)...)
	}
	return append(all, clusterExtension(b, o, watch)), nil
}

// watched returns the namespace that the operator watches, "" for all.
func watched(b *bundle.Bundle, o Options) (string, error) {
	supports := func(mode string) bool { return slices.Contains(b.InstallModes(), mode) }
	switch {
	case o.Watch == "" && supports("AllNamespaces"):
		return "", nil
	case (o.Watch == "" || o.Watch == o.Namespace) && supports("OwnNamespace"):
		return o.Namespace, nil
	case o.Watch == "":
		return "", fault.Usage(o.WatchHint, "%s watches some namespaces only", b.Name())
	case o.Watch != o.Namespace && supports("SingleNamespace"):
		return o.Watch, nil
	}
	return "", fault.Usage("see spec.installModes of its ClusterServiceVersion", "%s cannot watch the namespace %s from %s", b.Name(), o.Watch, o.Namespace)
}

func clusterExtension(b *bundle.Bundle, o Options, watch string) Object {
	catalog := Object{"packageName": b.Package()}
	if len(o.Channels) > 0 {
		catalog["channels"] = jsonvalue.ListOf(o.Channels)
	}
	if o.Version != "" {
		catalog["version"] = o.Version
	}
	if o.Catalog != "" {
		catalog["selector"] = Object{"matchLabels": Object{group + "/metadata.name": o.Catalog}}
	}
	spec := Object{"namespace": o.Namespace, "source": Object{"sourceType": "Catalog", "catalog": catalog}}
	if o.ServiceAccount != "" {
		spec["serviceAccount"] = Object{"name": o.ServiceAccount}
	}
	if watch != "" {
		spec["config"] = Object{"configType": "Inline", "inline": Object{"watchNamespace": watch}}
	}
	return object(group+"/v1", "ClusterExtension", "", o.Name, spec)
}

func object(version, kind, namespace, name string, spec Object) Object {
	metadata := Object{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	o := Object{"apiVersion": version, "kind": kind, "metadata": metadata}
	if spec != nil {
		o["spec"] = spec
	}
	return o
}

// sorted returns names without repetitions, and without "".
func sorted(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
	slices.Sort(names)
	return slices.Compact(names)
}
