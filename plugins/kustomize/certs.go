package kustomize

import (
	"io/fs"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/kustomizefile"
	"github.com/operon-dev/operon/templates"
)

// metricsCertificate is the item of config/certmanager that gives the metrics server a
// certificate of cert-manager.
const metricsCertificate = "certificate-metrics.yaml"

// changeCertificates replaces the certificates of cert-manager by the certificates of the manager, or the
// reverse. Files that the user changed stay, but config/default does not include them.
func changeCertificates(e plugin.Event, p *scaffold.Plan) error {
	c := e.Project
	if e.Before.WebhookCerts() == c.WebhookCerts() || !c.HasWebhooks() || !p.Exists(defaultEntries) {
		return nil
	}
	w, err := readWiring(p)
	if err != nil {
		return err
	}
	was, next := certificatesOf(e.Before), certificatesOf(c)
	if err := checkReplaceable(w, next, p); err != nil {
		return err
	}
	if w.certificates[was.item] {
		if err := was.exclude(p); err != nil {
			return err
		}
	}
	if err := was.remove(e.Before, p); err != nil {
		return err
	}
	if p.HasBase(caReplacements) {
		if err := tree("kustomize/cainjection", nil, initData(c), p, p.Seed); err != nil {
			return err
		}
	}
	for _, r := range c.Resources {
		if r.Webhooks == nil {
			continue
		}
		if patch := crdPatch(c, r, p); r.Webhooks.Conversion && p.HasBase(patch) {
			if err := tree("kustomize/conversion", map[string]string{"patch": path.Base(patch)}, conversionData(c, r), p, p.Seed); err != nil {
				return err
			}
		}
		if err := createWebhook(c, r, p); err != nil {
			return err
		}
	}
	return kustomizefile.Item{File: defaultEntries, Key: "resources", Text: next.item}.Enable(p)
}

// checkReplaceable returns an error if more than the webhooks uses cert-manager.
func checkReplaceable(w wiring, next certificates, p *scaffold.Plan) error {
	if next != selfCerts {
		return nil
	}
	if w.copied("Certificate", "serving-cert") {
		return fault.Failed("remove the replacements for cert-manager from "+defaultEntries+", then repeat the command",
			"%s has replacements for cert-manager that operon did not write", defaultEntries)
	}
	src, err := p.Read(issuerEntries)
	if err != nil {
		return nil // there are no certificates
	}
	doc, err := yamledit.Decode(src)
	if err != nil {
		return fault.In(issuerEntries, err)
	}
	if !slices.Contains(items(doc.Value["resources"]), any(metricsCertificate)) {
		return nil
	}
	return fault.Failed("comment out the lines of [METRICS-WITH-CERTS] in "+defaultEntries+" and "+issuerEntries+", then repeat the command",
		"cert-manager also issues the certificate of the metrics server")
}

// exclude disables the folder's item in config/default. The item of cert-manager becomes the
// comment that it was in a new project.
func (f certificates) exclude(p *scaffold.Plan) error {
	item := kustomizefile.Item{File: defaultEntries, Key: "resources", Text: f.item}
	if f == certManager {
		return item.Disable(p)
	}
	return item.Remove(p)
}

// remove deletes the files of the folder, unless the user changed one of them.
func (f certificates) remove(c *project.Config, p *scaffold.Plan) error {
	files := map[string][]byte{}
	err := render.Tree(p.Templates(templates.FS), f.tree, nil, initData(c), func(name string, _ fs.FileMode, content []byte) error {
		files[name] = content
		return nil
	})
	if err != nil {
		return err
	}
	return p.Discard(files)
}
