package shell

import (
	"io/fs"
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/hookscaffold"
	"github.com/operon-dev/operon/templates"
)

const (
	defaultEntries = "config/default/kustomization.yaml"
	policyEntries  = "config/network-policy/kustomization.yaml"
	webhookEntries = "config/webhook/kustomization.yaml"
	webhookPolicy  = "config/network-policy/allow-webhook-traffic.yaml"

	// the kustomize plugin's templates for certificates, which also fit here
	certificates     = "kustomize/webhook/config/certmanager"
	certificateNames = "kustomizeconfig.yaml"
)

// wireWebhooks plans what the API server needs to call the engine: Services and a certificate.
// Only new parts are enabled, so that parts that the user disabled stay disabled.
func wireWebhooks(c *project.Config, r record, p *scaffold.Plan) error {
	var parts [][3]string // kustomization, list, item
	if !p.Exists(webhookEntries) {
		parts = [][3]string{
			{defaultEntries, "transformers", "- webhook_replacements.yaml"},
			{defaultEntries, "resources", "- ../webhook"},
			{defaultEntries, "resources", "- ../certmanager"},
			{defaultEntries, "patches", "- path: manager_webhook_patch.yaml\n  target:\n    kind: Deployment"},
		}
		if p.Exists(policyEntries) {
			parts = append(parts, [3]string{policyEntries, "resources", "- " + path.Base(webhookPolicy)})
		}
	}
	sink := hookscaffold.InitSink(p)
	if err := render.Tree(templates.FS, "shell/webhook", nil, initData(c, r), func(name string, mode fs.FileMode, content []byte) error {
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
	if err := render.Tree(templates.FS, certificates, nil, initData(c, r), render.Only(share, certificateNames)); err != nil {
		return err
	}
	for _, part := range parts {
		if err := enable(p, part[0], part[1], part[2]); err != nil {
			return err
		}
	}
	return nil
}

// enable enables an item of a kustomization's list: it uncomments the item, or else adds it.
func enable(p *scaffold.Plan, name, key, item string) error {
	dir := path.Dir(name)
	err := p.Edit(name, func(src []byte) ([]byte, error) {
		src, err := yamledit.UncommentKey(src, key)
		if err != nil {
			return nil, err
		}
		if out, err := yamledit.Uncomment(src, item, dir); err == nil {
			return out, nil
		}
		text := strings.ReplaceAll(strings.TrimPrefix(item, "- "), "\n  ", "\n")
		return yamledit.Append(src, text, yamledit.ListAnchor{Path: []string{key}, Dir: dir})
	})
	if err == nil {
		return nil
	}
	return &fault.Error{Code: fault.Code(err), Msg: "edit " + name, Err: err,
		Hint: "add this by hand below " + key + " in " + name + ", then repeat the command:\n" + item}
}
