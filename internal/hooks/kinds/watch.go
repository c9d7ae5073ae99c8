package kinds

import "k8s.io/apimachinery/pkg/runtime/schema"

// CannotWatch returns the reason why a binding cannot watch a kind, or "" if it can. It
// also returns "" for an unknown group, whose CRD may be outside the project.
func (t *Table) CannotWatch(apiVersion, kind string) string {
	k, err := t.Find(apiVersion, kind)
	switch {
	case err == nil && k.Can("list") && k.Can("watch"):
		return ""
	case err == nil:
		return k.Kind + " is a kind that nobody can watch"
	case apiVersion == "":
		return err.Error() + "; when its CRD is somebody else's, say its apiVersion"
	}
	if gv, parsed := schema.ParseGroupVersion(apiVersion); parsed != nil || !t.HasGroup(gv.Group) {
		return ""
	}
	return err.Error()
}

// CannotSelectNamespaces returns the reason why a binding cannot select the namespaces of
// a kind. It returns "" if it can, or if the kind is unknown. The engine lists objects in
// each namespace.
func (t *Table) CannotSelectNamespaces(apiVersion, kind string) string {
	if k, err := t.Find(apiVersion, kind); err == nil && !k.Namespaced {
		return "objects of " + k.Kind + " live in no namespace, and the API server lists none there"
	}
	return ""
}
