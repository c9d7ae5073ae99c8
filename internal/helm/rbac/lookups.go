package rbac

import (
	"github.com/operon-dev/operon/internal/roles"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// allowLookups allows what templates look up, which no rendering shows if it depends on the cluster.
func (d *deriver) allowLookups() {
	static := map[schema.GroupVersionKind]bool{}
	var computed []place
	for _, t := range d.templates {
		for _, l := range t.lookups {
			if l.apiVersion == "" || l.kind == "" {
				computed = append(computed, place{t.file, l.line})
				continue
			}
			gvk := schema.FromAPIVersionAndKind(l.apiVersion, l.kind)
			static[gvk] = true
			d.allowLookup(gvk, t.file, l) // whatever the condition around it
		}
	}
	if len(computed) == 0 {
		return
	}
	shown := false
	for l := range d.lookups {
		if gvk := schema.FromAPIVersionAndKind(l.apiVersion, l.kind); !static[gvk] {
			shown = true
			d.allowLookup(gvk, computed[0].file, l)
		}
	}
	for _, at := range computed {
		if !shown {
			d.find(ruleUnseen.At(at.file, at.line, 0, "no set of values shows the kind that lookup reads here"))
		}
	}
}

// place is a line of a template.
type place struct {
	file string
	line int
}

func (d *deriver) allowLookup(gvk schema.GroupVersionKind, file string, l lookup) {
	k, _ := d.kindOf(gvk)
	verb := "get"
	if l.list {
		verb = "list"
	}
	in := d.own()
	if !k.Namespaced {
		in = roles.Everywhere
	}
	d.allow(in, k.Group, k.Resource, "", roles.Reason{File: file, Why: "lookup of " + gvk.Kind}, verb)
}
