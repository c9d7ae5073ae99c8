package kinds

import "k8s.io/apimachinery/pkg/runtime/schema"

// CannotWatch says why a binding cannot watch a kind, as it names it, or "" when it
// can. Of a group that the table does not have nobody can tell: the CRD may be
// somebody else's.
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

// CannotSelectNamespaces says why a binding cannot name the namespaces of a kind, or "" when it
// can, or nobody can tell. The engine lists objects in each of them.
func (t *Table) CannotSelectNamespaces(apiVersion, kind string) string {
	if k, err := t.Find(apiVersion, kind); err == nil && !k.Namespaced {
		return "objects of " + k.Kind + " live in no namespace, and the API server lists none there"
	}
	return ""
}
