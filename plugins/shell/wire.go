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
// Only new parts are enabled, so that parts that the user disabled stay disabled.
func wireWebhooks(c *project.Config, r record, p *scaffold.Plan) error {
	var items []kustomizefile.Item
	if !p.Exists(webhookEntries) {
		items = []kustomizefile.Item{
			{File: defaultEntries, Key: "transformers", Text: "webhook_replacements.yaml"},
			{File: defaultEntries, Key: "resources", Text: "../webhook"},
			{File: defaultEntries, Key: "resources", Text: "../certmanager"},
			{File: defaultEntries, Key: "patches", Text: "path: manager_webhook_patch.yaml\ntarget:\n  kind: Deployment"},
		}
		if p.Exists(policyEntries) {
			items = append(items, kustomizefile.Item{File: policyEntries, Key: "resources", Text: path.Base(webhookPolicy)})
		}
	}
	sink := hookscaffold.InitSink(p)
	if err := render.Tree(p.Templates(templates.FS), "shell/webhook", nil, initData(c, r), func(name string, mode fs.FileMode, content []byte) error {
		if name == webhookPolicy && !p.Exists(policyEntries) {
			return nil // the user removed it
		}
		return sink(name, mode, content)
	}); err != nil {
		return err
	}
	share := func(name string, mode fs.FileMode, content []byte) error {
		return p.Share("config/certmanager/"+name, mode, content)
	}
	if err := render.Tree(p.Templates(templates.FS), certificates, nil, initData(c, r), render.Only(share, certificateNames)); err != nil {
		return err
	}
	for _, item := range items {
		if err := item.Enable(p); err != nil {
			return err
		}
	}
	return nil
}
