package kubeapi

import "k8s.io/apimachinery/pkg/runtime/schema"

// CannotWatch returns the reason why a binding cannot watch a kind, or "". It returns "" also
// for a kind of an unknown group, because its CRD may be outside the project.
func (known *Kinds) CannotWatch(apiVersion, kind string) string {
	k, err := known.Find(apiVersion, kind)
	switch {
	case err == nil && k.Supports("list") && k.Supports("watch"):
		return ""
	case err == nil:
		return k.Kind + " does not support watch"
	case apiVersion == "":
		return err.Error() + "; if its CRD is not part of the project, set apiVersion"
	}
	if gv, parsed := schema.ParseGroupVersion(apiVersion); parsed != nil || !known.HasGroup(gv.Group) {
		return ""
	}
	return err.Error()
}

// CannotSelectNamespaces returns the reason why a binding cannot select the namespaces of the
// objects of a kind. It returns "" if it can, or if the kind is unknown.
func (known *Kinds) CannotSelectNamespaces(apiVersion, kind string) string {
	if k, err := known.Find(apiVersion, kind); err == nil && !k.Namespaced {
		return k.Kind + " is cluster-scoped, so the engine finds no objects in namespaces"
	}
	return ""
}
