package kustomize

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Rules of the warnings about lists.
const (
	ruleNotListed  = "not-listed"  // no kustomization lists a generated file, so it is never installed
	ruleListedGone = "listed-gone" // a kustomization lists a missing file and does not build
	ruleNotTrusted = "not-trusted" // the API server does not know the certificate of a conversion
	ruleNoManager  = "no-manager"  // no kustomization lists what runs the manager
	ruleNotBuilt   = "not-built"   // a kustomization no longer builds

	ruleKustomizationGone = "kustomization-gone" // a kustomization lists a folder without a kustomization
)

// checkLists warns about mismatches between the generated manifests and the kustomizations.
// The user decides which parts of config/default are enabled, except for the CRDs: no manager
// runs without them.
func checkLists(e plugin.Event, p *scaffold.Plan) {
	if len(e.Args)+len(e.Strings("only"))+len(e.Strings("paths")) > 0 {
		return // a partial run does not check the whole project
	}
	crds, webhooks, all := readLists(p, crdEntries), readLists(p, webhookEntries), readLists(p, defaultEntries)
	stale := map[string]bool{} // another warning is about them
	for _, w := range p.Warnings() {
		if strings.HasPrefix(w.Rule, "stale-") {
			stale[w.File] = true
		}
	}
	generated := map[string]bool{} // by PROJECT, now or in this very command
	for _, r := range e.Project.Resources {
		if r.API == nil {
			continue
		}
		base := "config/crd/" + crdBase(r)
		generated[base] = true
		if p.Exists(base) && !stale[base] {
			crds.wants(p, "resources", crdBase(r), "the CRD of %s is generated but not installed", r.Kind)
			if all.mentions(p, "../crd") || !hasTheirDefault(p) {
				all.wants(p, "resources", "../crd", "the CRDs of this project are not installed")
			}
		}
		if patch := crdPatch(e.Project, r, p); r.Webhooks != nil && r.Webhooks.Conversion && p.Exists(patch) {
			crds.wants(p, "patches", "path: patches/"+path.Base(patch), "the CRD of %s has no conversion webhook", r.Kind)
		}
	}
	if anyAdmission(e.Project.Resources) {
		generated[webhookManifests] = true
		if p.Exists(webhookManifests) {
			webhooks.wants(p, "resources", path.Base(webhookManifests), "the webhook configurations are generated but not installed")
		}
	}
	crds.gone(p, generated)
	webhooks.gone(p, generated)
	all.foldersGone(p)
	checkTrust(e.Project, p)
	checkWebhookPolicy(all, p)
}

// checkTrust warns about conversions that another tool wired without their certificate.
func checkTrust(c *project.Config, p *scaffold.Plan) {
	w, err := readWiring(p)
	if err != nil || !w.certificates[certManager.item] {
		return
	}
	for _, patch := range w.untrusted(c, p) {
		src, err := p.Read(patch)
		if err != nil {
			continue
		}
		if next, err := annotate(src); err == nil && !bytes.Equal(src, next) {
			p.Warn(scaffold.Warning{File: patch, Rule: ruleNotTrusted, Lines: annotation,
				Message: "the API server does not trust the conversion webhook: add these lines to metadata, or repeat operon create webhook --conversion for it"})
		}
	}
}

// lists contains the lists of a kustomization. It is empty if the file does not exist or
// is invalid, because kustomize reports invalid files.
type lists struct {
	name string
	doc  *yamledit.Document
}

func readLists(p *scaffold.Plan, name string) lists {
	src, err := p.Read(name)
	if err != nil {
		return lists{}
	}
	doc, err := yamledit.Decode(src)
	if err != nil {
		return lists{}
	}
	return lists{name, doc}
}

// mentions reports whether the file contains a text, also in a comment. A repository that installs a
// part in another way does not mention it.
func (l lists) mentions(p *scaffold.Plan, text string) bool {
	src, err := p.Read(l.name)
	return err == nil && bytes.Contains(src, []byte(text))
}

// wants warns if the list at key lacks an entry: a path, or a patch of the form "path: ...".
func (l lists) wants(p *scaffold.Plan, key, entry, format string, args ...any) {
	if l.doc == nil {
		return
	}
	wanted := strings.TrimPrefix(entry, "path: ")
	listed := slices.ContainsFunc(l.items(key), func(v any) bool {
		if m, ok := v.(map[string]any); ok {
			v = m["path"]
		}
		s, ok := v.(string)
		return ok && l.path(s) == l.path(wanted)
	})
	if !listed {
		p.Warn(scaffold.Warning{File: l.name, Line: l.doc.Line([]any{key}), Rule: ruleNotListed, Lines: "- " + entry,
			Message: fmt.Sprintf(format, args...) + ": add this line to " + key})
	}
}

// oldKeys are keys of kustomizations that kubebuilder v2 and v3 wrote, by those that replace them.
var oldKeys = map[string]string{"resources": "bases", "patches": "patchesStrategicMerge"}

// items returns the entries at a key, and at the one that it replaces.
func (l lists) items(key string) []any {
	if l.doc == nil {
		return nil
	}
	return slices.Concat(items(l.doc.Value[key]), items(l.doc.Value[oldKeys[key]]))
}

// gone warns about listed resource files that do not exist and are not generated.
func (l lists) gone(p *scaffold.Plan, generated map[string]bool) {
	if l.doc == nil {
		return
	}
	for i, v := range items(l.doc.Value["resources"]) {
		entry, ok := v.(string)
		file := l.path(entry)
		if !ok || strings.Contains(entry, "://") || path.Ext(file) != ".yaml" || generated[file] || p.Exists(file) {
			continue
		}
		p.Warn(scaffold.Warning{File: l.name, Line: l.doc.Line([]any{"resources", i}), Rule: ruleListedGone,
			Message: file + " is listed here, but does not exist, and nothing in " + project.File + " creates it: remove the line"})
	}
}

// foldersGone warns about listed folders of the project that have no kustomization.
func (l lists) foldersGone(p *scaffold.Plan) {
	if l.doc == nil {
		return
	}
	for i, v := range items(l.doc.Value["resources"]) {
		entry, ok := v.(string)
		folder := l.path(entry)
		if !ok || !strings.HasPrefix(entry, ".") || path.Ext(folder) != "" || strings.HasPrefix(folder, "../") || hasKustomization(p, folder) {
			continue
		}
		name, fix := folder+"/"+kustomization, "restore it from version control"
		if name == crdEntries {
			fix += ", or repeat operon create api for a kind of the project, which creates it"
		}
		p.Warn(scaffold.Warning{File: l.name, Line: l.doc.Line([]any{"resources", i}), Rule: ruleKustomizationGone,
			Message: name + " is missing, so this kustomization does not build: " + fix})
	}
}

// hasKustomization reports whether a folder has a kustomization, by any name that kustomize
// accepts.
func hasKustomization(p *scaffold.Plan, folder string) bool {
	return slices.ContainsFunc([]string{kustomization, "kustomization.yml", "Kustomization"}, func(name string) bool {
		return p.Exists(folder + "/" + name)
	})
}

// path returns the path of an entry in the project.
func (l lists) path(entry string) string { return path.Join(path.Dir(l.name), entry) }
