package adopt

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/project"
)

// target is the kind that a controller or a webhook is for: one of the repository, or of another module.
type target struct {
	own      *kind
	external project.Resource // if own is nil
}

// same reports whether two targets are the same version of a kind.
func (t target) same(o target) bool {
	return t.own == o.own && (t.own != nil || t.external.SameVersion(o.external))
}

// controller is the code that sets up a controller.
type controller struct {
	target
	name       string // of the manager's controller, or ""
	reconciler string // Go type with the code, or ""
	dir        string
	at         place
	confidence Confidence
}

// unknown is code that adopt does not understand.
type unknown struct {
	what string
	at   place
}

// controllers returns the controllers in some folders, sorted by place.
func (r *repository) controllers(within map[string]bool) (all []controller, missed []unknown) {
	for _, f := range r.src.files {
		if !within[f.dir()] {
			continue
		}
		for _, b := range f.builders {
			if b.webhook {
				continue
			}
			t, ok := r.target(f, b.object)
			switch {
			case ok:
				c := controller{target: t, name: b.name, reconciler: b.receiver, dir: f.dir(), at: f.at(b.line), confidence: Certain}
				if b.bare || t.own == nil && t.external.External {
					c.confidence = Likely
				}
				all = append(all, c)
			case b.object != ref{}:
				object := strings.TrimPrefix(b.object.pkg+"."+b.object.name, ".")
				missed = append(missed, unknown{"a controller for " + object + ", whose API group is not known", f.at(b.line)})
			}
		}
	}
	return all, missed
}

// target returns the kind that a file names.
func (r *repository) target(f *goFile, object ref) (target, bool) {
	if object == (ref{}) {
		return target{}, false
	}
	importPath := r.src.resolve(f, object.pkg)
	if dir, ok := r.src.folder(importPath); ok {
		for _, k := range r.kinds {
			if k.dir == dir && k.name == object.name {
				return target{own: k}, true
			}
		}
		return target{}, false
	}
	for _, k := range project.CoreKinds() {
		if k.Path == importPath && k.Kind == object.name {
			return target{external: k.Resource()}, true
		}
	}
	return r.external(importPath, object.name)
}

// external returns a kind of another module. Its group is the one that markers of RBAC and webhooks name for its plural.
func (r *repository) external(importPath, name string) (target, bool) {
	res := project.Resource{Version: path.Base(importPath), Kind: name, Path: importPath, External: true}
	if project.CheckVersion(res.Version) != nil || project.CheckKind(name) != nil {
		return target{}, false
	}
	var groups []string
	for _, f := range r.src.files {
		for _, m := range f.rbac {
			if slices.Contains(m.Resources, res.PluralName()) {
				groups = append(groups, m.Groups...)
			}
		}
		for _, m := range f.webhookMarks {
			if slices.Contains(m.Resources, res.PluralName()) && slices.Contains(m.Versions, res.Version) {
				groups = append(groups, m.Groups...)
			}
		}
	}
	groups = slices.DeleteFunc(groups, func(g string) bool { return !strings.Contains(g, ".") || project.IsCoreGroup(g) })
	slices.Sort(groups)
	if groups = slices.Compact(groups); len(groups) != 1 {
		return target{}, false
	}
	res.Group, res.Domain, _ = strings.Cut(groups[0], ".")
	for _, m := range r.requires {
		if within(importPath, m) && len(m) > len(res.Module) {
			res.Module = m
		}
	}
	return target{external: res}, project.CheckGroup(res.Group) == nil && project.CheckDomain(res.Domain) == nil
}

// controllerNames returns the names by which PROJECT records the controllers of a kind. A single
// controller is named after the kind.
func controllerNames(kindName string, all []controller) []string {
	lower := strings.ToLower(kindName)
	var names []string
	for _, c := range all {
		name := c.name
		if stem := strings.TrimSuffix(strings.TrimSuffix(c.reconciler, "Reconciler"), "Controller"); strings.EqualFold(stem, kindName) {
			name = lower
		} else if project.CheckControllerName(name) != nil {
			name = kebab(stem)
		}
		name = cmp.Or(name, lower)
		if project.CheckControllerName(name) == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// kebab converts FrigateBackup to frigate-backup.
func kebab(s string) string {
	var out strings.Builder
	for i, c := range s {
		if i > 0 && 'A' <= c && c <= 'Z' && (s[i-1] < 'A' || s[i-1] > 'Z') {
			out.WriteByte('-')
		}
		out.WriteRune(c)
	}
	return strings.ToLower(out.String())
}

// recordControllers records the controllers of kinds for which PROJECT has none, in any version.
func (r *recorder) recordControllers(all []controller) {
	for i, c := range all {
		if slices.ContainsFunc(all[:i], c.sameKind) {
			continue // recorded with the first one
		}
		of := slices.DeleteFunc(slices.Clone(all), func(o controller) bool { return !c.sameKind(o) })
		res := r.resource(c.target)
		if res == nil {
			continue
		}
		names := controllerNames(res.Kind, of)
		recorded := slices.ContainsFunc(r.cfg.Resources, func(o project.Resource) bool {
			return o.SameKind(*res) && len(o.ControllerNames()) > 0
		})
		switch {
		case recorded || len(names) == 0:
		case len(names) == 1:
			res.Controller = true
		default:
			for _, name := range names {
				res.Controllers = append(res.Controllers, project.Controller{Name: name})
			}
		}
		note := r.onlyController(*res)
		for _, o := range of {
			r.found("controller", o.String(), o.at, o.confidence, note)
		}
	}
}

// onlyController removes the controllers of a kind from its other versions, if PROJECT has them for several: one
// controller handles all versions. It returns a note about that.
func (r *recorder) onlyController(res project.Resource) (note string) {
	if len(res.ControllerNames()) == 0 {
		return ""
	}
	for i, o := range r.cfg.Resources {
		if o.SameKind(res) && !o.SameVersion(res) && len(o.ControllerNames()) > 0 {
			r.cfg.Resources[i].Controller, r.cfg.Resources[i].Controllers = false, nil
			note = "PROJECT has it for " + o.Version + ", too"
		}
	}
	return note
}

// sameKind reports whether two controllers are for the same kind in any version.
func (c controller) sameKind(o controller) bool {
	if c.own != nil && o.own != nil {
		return c.own.group == o.own.group && c.own.name == o.own.name
	}
	return c.same(o.target)
}
