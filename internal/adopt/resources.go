package adopt

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/project"
)

// recordKinds completes the resources of PROJECT with the kinds of the repository.
func (r *recorder) recordKinds() {
	r.seen = make([]bool, len(r.cfg.Resources))
	entries := make([]int, len(r.kinds)) // by kind; -1: none
	for i, k := range r.kinds {
		if entries[i] = r.entry(k); entries[i] >= 0 {
			r.seen[entries[i]] = true
		}
	}
	for i, k := range r.kinds {
		if entries[i] >= 0 {
			continue
		}
		if entries[i] = r.similar(k); entries[i] >= 0 {
			r.seen[entries[i]] = true
		}
	}
	var added []*kind
	for i, k := range r.kinds {
		if entries[i] >= 0 {
			r.correct(entries[i], k)
		} else {
			added = append(added, k)
		}
	}
	for _, k := range added {
		switch {
		case k.served && k.valid() != nil:
			r.missed("a kind that PROJECT cannot record: "+k.valid().Error(), k.at)
		case k.served:
			group, domain := r.split(k.group)
			res := project.Resource{Group: group, Domain: domain, Version: k.version, Kind: k.name}
			r.complete(&res, k)
			r.cfg.Resources = append(r.cfg.Resources, res)
			note := k.note
			if r.doc != nil && note == "" {
				note = "new in PROJECT"
			}
			r.found("kind", k.String(), k.at, k.confidence, note)
		}
	}
}

// split returns the group and the domain of a full group, as another kind in it has them if PROJECT has one.
func (r *recorder) split(full string) (group, domain string) {
	for _, res := range r.cfg.Resources {
		if res.QualifiedGroup() == full {
			return res.Group, res.Domain
		}
	}
	return splitGroup(full, r.cfg.Domain)
}

// reportUnseen reports the entries of PROJECT that nothing in the repository agrees with.
func (r *recorder) reportUnseen() {
	for i, seen := range r.seen {
		if res := r.cfg.Resources[i]; !seen && !res.HasExternalTypes() {
			r.missed("PROJECT has "+res.QualifiedGroup()+"/"+res.Version+" "+res.Kind+", but no Go type for it was found; the entry stays", r.inPROJECT("resources", i))
		}
	}
}

// String returns group/version and kind, and the scope unless the kind is namespaced.
func (k *kind) String() string {
	s := k.group + "/" + k.version + " " + k.name
	switch {
	case !k.served:
		s += ", no CRD"
	case !k.namespaced:
		s += ", cluster-scoped"
	}
	return s
}

// valid returns an error for values that PROJECT does not accept.
func (k *kind) valid() error {
	for _, err := range []error{project.CheckGroup(k.group), project.CheckKind(k.name)} {
		if err != nil {
			return err
		}
	}
	return nil
}

// entry returns the index of PROJECT's entry for a kind, or -1. Older tools accepted kinds in lower case.
func (r *recorder) entry(k *kind) int {
	return slices.IndexFunc(r.cfg.Resources, func(res project.Resource) bool {
		return res.QualifiedGroup() == k.group && res.Version == k.version && strings.EqualFold(res.Kind, k.name) && !res.Core
	})
}

// similar returns the index of an entry with another group that means the kind: with its folder, without the
// domain, or with the first part of its group.
func (r *recorder) similar(k *kind) int {
	for _, test := range []func(project.Resource) bool{
		func(res project.Resource) bool { return strings.HasSuffix(res.Path, "/"+k.dir) },
		func(res project.Resource) bool { return strings.Trim(res.Group+"."+r.cfg.Domain, ".") == k.group },
		func(res project.Resource) bool { return strings.HasPrefix(k.group, res.Group+".") },
	} {
		for i, res := range r.cfg.Resources {
			if !r.seen[i] && res.Version == k.version && res.Kind == k.name && !res.HasExternalTypes() && test(res) {
				return i
			}
		}
	}
	return -1
}

// correct completes an entry of PROJECT, and reports what changes.
func (r *recorder) correct(i int, k *kind) {
	was := r.cfg.Resources[i]
	res := was
	if res.QualifiedGroup() != k.group {
		group, domain := r.split(k.group)
		if rest, ok := strings.CutPrefix(k.group, res.Group+"."); ok && group == "" && res.Group != "" {
			group, domain = res.Group, rest // folders may have the name of the group
		}
		res.Group, res.Domain = group, domain
	}
	res.Kind = k.name
	r.complete(&res, k)
	r.cfg.Resources[i] = res
	notes := corrections(was, res)
	if k.note != "" {
		notes = append(notes, k.note)
	}
	r.found("kind", k.String(), k.at, k.confidence, strings.Join(notes, "; "))
}

// corrections describes what PROJECT had of a resource where it is different now.
func corrections(was, res project.Resource) []string {
	var had, lacked []string
	for _, c := range []struct{ name, was, is string }{
		{"the kind", was.Kind, res.Kind}, {"the group", was.QualifiedGroup(), res.QualifiedGroup()}, {"the path", was.Path, res.Path},
		{"the plural", was.Plural, res.Plural}, {"api", apiText(was.API), apiText(res.API)},
	} {
		switch c.was {
		case c.is:
		case "":
			lacked = append(lacked, c.name)
		default:
			had = append(had, c.name+" "+c.was)
		}
	}
	var notes []string
	if had != nil {
		notes = append(notes, "PROJECT has "+strings.Join(had, ", "))
	}
	if lacked != nil {
		notes = append(notes, "PROJECT lacks "+strings.Join(lacked, ", "))
	}
	return notes
}

func apiText(a *project.API) string {
	if a == nil {
		return ""
	}
	text := "of a cluster-scoped kind"
	if a.Namespaced {
		text = "of a namespaced kind"
	}
	if a.SSA {
		text += " with apply configurations"
	}
	return text
}

// complete sets what a kind says about its resource.
func (r *recorder) complete(res *project.Resource, k *kind) {
	res.Path = r.src.importPath(k.dir)
	if plural := (project.Resource{Kind: k.name}).PluralName(); k.plural != "" && k.plural != plural {
		res.Plural = k.plural
	}
	if !k.served {
		res.API = nil
		return
	}
	api := project.API{CRDVersion: "v1"}
	if res.API != nil && res.API.CRDVersion != "" && res.API.CRDVersion != "v1beta1" {
		api.CRDVersion = res.API.CRDVersion
	}
	api.Namespaced, api.SSA = k.namespaced, k.applied
	res.API = &api
}

// resource returns the entry of PROJECT for a target, which it adds if it is missing.
func (r *recorder) resource(t target) *project.Resource {
	if t.own != nil {
		if i := r.entry(t.own); i >= 0 {
			return &r.cfg.Resources[i]
		}
		return nil // a kind that PROJECT cannot record
	}
	i := slices.IndexFunc(r.cfg.Resources, t.external.SameVersion)
	if i < 0 {
		i = r.unseen(t.external)
	}
	if i < 0 {
		r.cfg.Resources = append(r.cfg.Resources, t.external)
		return &r.cfg.Resources[len(r.cfg.Resources)-1]
	}
	res := &r.cfg.Resources[i]
	if i < len(r.seen) {
		r.seen[i] = true
	}
	if ext := t.external; !res.SameVersion(ext) { // other tools record it with the group of the project
		res.Group, res.Domain, res.Path, res.Core, res.External, res.Module = ext.Group, ext.Domain, ext.Path, ext.Core, ext.External, ext.Module
	}
	return res
}

// unseen returns the index of an entry with the version and kind of a resource that has no types here.
func (r *recorder) unseen(ext project.Resource) int {
	for i, seen := range r.seen {
		if res := r.cfg.Resources[i]; !seen && res.Version == ext.Version && res.Kind == ext.Kind && res.API == nil {
			return i
		}
	}
	return -1
}

func (t target) String() string {
	if t.own != nil {
		return t.own.group + "/" + t.own.version + " " + t.own.name
	}
	return strings.TrimPrefix(t.external.QualifiedGroup()+"/"+t.external.Version, "/") + " " + t.external.Kind
}
