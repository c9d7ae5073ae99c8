package kustomize

import (
	"bytes"
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// A repository that operon did not start can have the parts of config/ under other names and in
// other folders. operon then adds only what a kustomization of the repository includes.

// isTheirs reports whether a kustomization exists, and operon did not write its folder. As it is shared,
// it has no base; seeded is a file that operon would have written with it.
func isTheirs(entries, seeded string, p *scaffold.Plan) bool {
	return p.Exists(entries) && !p.HasBase(seeded) && !p.Seeded(seeded)
}

// hasTheirDefault reports whether operon did not write config/default.
func hasTheirDefault(p *scaffold.Plan) bool { return isTheirs(defaultEntries, managerFile, p) }

// isUnlisted reports whether a missing file is one that the kustomization of its folder, which operon did
// not write, does not mention.
func isUnlisted(name, entries string, p *scaffold.Plan) bool {
	src, err := p.Read(entries)
	return err == nil && hasTheirDefault(p) && !p.Exists(name) && !bytes.Contains(src, []byte(path.Base(name)))
}

// hasOtherWebhooks reports whether the repository has a configuration of webhooks with other files than
// those that operon and kubebuilder write: in config/webhook with certificates of its own, or in another
// folder whose kustomization lists a webhook configuration.
func hasOtherWebhooks(certs certificates, p *scaffold.Plan) (bool, error) {
	if isTheirs(webhookEntries, webhookService, p) {
		src, err := p.Read(certs.entries)
		return err != nil || !bytes.Contains(src, []byte(path.Base(certs.needed))), nil //nolint:nilerr // there are no certificates
	}
	if p.Exists(webhookEntries) || !hasTheirDefault(p) {
		return false, nil
	}
	found := false
	err := eachEntry(p, func(_, _ string, src []byte) {
		found = found || bytes.Contains(src, []byte("kind: MutatingWebhookConfiguration")) ||
			bytes.Contains(src, []byte("kind: ValidatingWebhookConfiguration"))
	})
	return found, err
}

// crdList is where a repository lists its CRDs.
type crdList struct {
	file string // the kustomization; "" if no kustomization lists CRDs
	dir  string // the folder of the CRDs, relative to it
}

// findCRDs returns where the CRD of r is listed: config/crd, or the kustomization that lists the CRDs
// of other kinds of the project.
func findCRDs(c *project.Config, r project.Resource, p *scaffold.Plan) (crdList, error) {
	usual := crdList{crdEntries, "bases"}
	if p.Exists(crdEntries) || !hasTheirDefault(p) {
		return usual, nil
	}
	names := map[string]bool{}
	for _, o := range c.Resources {
		if o.API != nil && !o.SameKind(r) {
			names[path.Base(crdBase(o))] = true
		}
	}
	if len(names) == 0 {
		return usual, nil
	}
	var found crdList
	err := eachEntry(p, func(list, entry string, _ []byte) {
		if found.file == "" && names[path.Base(entry)] {
			found = crdList{list, path.Dir(entry)}
		}
	})
	return found, err
}

// eachEntry calls visit for each file that a kustomization below config lists as a resource, with the
// kustomization, the entry and the content of the file.
func eachEntry(p *scaffold.Plan, visit func(list, entry string, src []byte)) error {
	names, err := p.Below("config")
	if err != nil {
		return err
	}
	for _, name := range names {
		if path.Base(name) != kustomization {
			continue
		}
		src, err := p.Read(name)
		if err != nil {
			continue // it is removed in this plan
		}
		doc, err := yamledit.Decode(src)
		if err != nil {
			continue // kustomize reports it
		}
		for _, item := range items(doc.Value["resources"]) {
			entry, ok := item.(string)
			if !ok || strings.Contains(entry, "://") {
				continue
			}
			if content, err := p.Read(path.Join(path.Dir(name), entry)); err == nil {
				visit(name, entry, content)
			}
		}
	}
	return nil
}

// shareCRDConfig plans the configuration that the CRDs of conversions need. It is part of every project
// with kinds, but in a repository that operon did not start, no kustomization lists it before the first
// conversion.
func shareCRDConfig(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	known := c.Find(r.Group, r.Version, r.Kind)
	if p.Exists(crdConfig) || !hasTheirDefault(p) || known == nil || known.API == nil {
		return nil
	}
	data, err := Plugin{}.apiData(c, *known, p)
	if err != nil {
		return err
	}
	return render.Tree(p.Templates(templates.FS), "kustomize/api", apiVars(c, *known, p), data, render.Only(p.Share, crdConfig))
}

// sampleOnly plans the sample of a kind, which tests use.
func (k Plugin) sampleOnly(e plugin.Event, p *scaffold.Plan) error {
	if e.Type != plugin.CreateAPI || e.Resource.API == nil {
		return nil
	}
	c, r := e.Project, *e.Resource
	data, err := k.apiData(c, r, p)
	if err != nil {
		return err
	}
	sink := render.Only(k.apiSink(c, r, p), c.SamplePath(r))
	if err := render.Tree(p.Templates(templates.FS), "kustomize/api", apiVars(c, r, p), data, sink); err != nil {
		return err
	}
	return labelSample(c, r, sampleLabels(e), p)
}
