package shell

import (
	"io/fs"
	"path"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
	"github.com/operon-dev/operon/plugins/internal/kustomizefile"
	"github.com/operon-dev/operon/templates"
)

const (
	defaultEntries = "config/default/kustomization.yaml"
	policyEntries  = "config/network-policy/kustomization.yaml"
	webhookEntries = "config/webhook/kustomization.yaml"
	webhookPolicy  = "config/network-policy/allow-webhook-traffic.yaml"

	// templates of the kustomize plugin for certificates, which are the same here
	certificates     = "kustomize/certmanager/config/certmanager"
	certificateNames = "kustomizeconfig.yaml"
)

// wireWebhooks plans what the API server needs to call the engine: Services and a certificate.
// Parts are enabled when they are new, or when the kustomization that lists them is. Therefore parts
// that the user disabled stay disabled.
func wireWebhooks(c *project.Config, r record, p *scaffold.Plan) error {
	type part struct {
		kustomizefile.Item
		needs string // required file; the user may have deleted it
	}
	var parts []part
	isNew := !p.Exists(webhookEntries)
	if isNew || p.Creates(defaultEntries) {
		parts = []part{
			{kustomizefile.Item{File: defaultEntries, Key: "transformers", Text: "webhook_replacements.yaml"}, "config/default/webhook_replacements.yaml"},
			{kustomizefile.Item{File: defaultEntries, Key: "resources", Text: "../webhook"}, webhookEntries},
			{kustomizefile.Item{File: defaultEntries, Key: "resources", Text: "../certmanager"}, "config/certmanager/kustomization.yaml"},
			{kustomizefile.ManagerPatch(p, defaultEntries, "manager_webhook_patch.yaml"), "config/default/manager_webhook_patch.yaml"},
		}
	}
	if p.Exists(policyEntries) && (isNew || p.Creates(policyEntries)) {
		parts = append(parts, part{kustomizefile.Item{File: policyEntries, Key: "resources", Text: path.Base(webhookPolicy)}, webhookPolicy})
	}
	sink := hookscaffold.InitSink(p)
	data := initData(c, r)
	err := render.Tree(p.Templates(templates.FS), "shell/webhook", nil, data, func(name string, mode fs.FileMode, content []byte) error {
		if name == webhookPolicy && !p.Exists(policyEntries) {
			return nil // the user removed it
		}
		return sink(name, mode, content)
	})
	if err != nil {
		return err
	}
	share := func(name string, mode fs.FileMode, content []byte) error {
		return p.Share("config/certmanager/"+name, mode, content)
	}
	if err := render.Tree(p.Templates(templates.FS), certificates, nil, initData(c, r), render.Only(share, certificateNames)); err != nil {
		return err
	}
	for _, part := range parts {
		if !p.Exists(part.needs) {
			continue
		}
		if err := part.Enable(p); err != nil {
			return err
		}
	}
	return nil
}
