package kustomize

import (
	"io/fs"
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/kustomizefile"
)

// The files that the configuration of webhooks consists of.
const (
	webhookEntries   = "config/webhook/" + kustomization
	webhookManifests = "config/webhook/manifests.yaml" // generated
	issuerEntries    = "config/certmanager/" + kustomization
	webhookService   = "config/webhook/service.yaml"
	certificate      = "config/certmanager/certificate-webhook.yaml"
	webhookPatch     = "config/default/manager_webhook_patch.yaml"
	policyEntries    = "config/network-policy/" + kustomization
	webhookPolicy    = "config/network-policy/allow-webhook-traffic.yaml"
)

// certificates is a folder of config/ for the certificate of the webhook server.
type certificates struct {
	tree    string // its templates
	item    string // its item in config/default
	entries string // its kustomization
	needed  string // its main file
}

// The folders for certificates of cert-manager, and for those that the manager makes.
var (
	certManager = certificates{"kustomize/certmanager", "../certmanager", issuerEntries, certificate}
	selfCerts   = certificates{"kustomize/certificates", "../certificates",
		"config/certificates/" + kustomization, "config/certificates/secret.yaml"}
)

func certificatesOf(c *project.Config) certificates {
	if c.WebhookCerts() == project.SelfCerts {
		return selfCerts
	}
	return certManager
}

// createWebhook plans the manifests for the webhooks of r: a Service, its certificate, the
// patches of the manager, and the conversion webhook of each converted CRD.
//
// A part is enabled when its file is new, or the kustomization that lists it. Therefore parts that
// the user disabled stay disabled, and parts that another tool enabled are not added again.
func createWebhook(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	certs := certificatesOf(c)
	theirs, err := hasOtherWebhooks(certs, p)
	if err != nil {
		return err
	}
	data := initData(c)
	var before map[string][]byte
	if hasTheirDefault(p) {
		if before, err = configFiles(p); err != nil {
			return err
		}
	}
	if !theirs {
		if data.Manager, err = managerPatchOf(c, before, p); err != nil {
			return err
		}
	}
	lines := newLines(c, r, theirs, data.Manager, p)
	certified := p.Exists(certs.entries) && p.Exists(caReplacements) && !p.Creates(defaultEntries)
	for _, dir := range []string{"kustomize/webhook", certs.tree} {
		if theirs || dir == certs.tree && isTheirs(certs.entries, certs.needed, p) {
			continue
		}
		if err := tree(dir, nil, data, p, webhookSink(p)); err != nil {
			return err
		}
	}
	if r.Webhooks.Conversion {
		vars := map[string]string{"patch": path.Base(crdPatch(c, r, p))}
		if err := tree("kustomize/conversion", vars, conversionData(c, r), p, plugin.SeedOwn(p)); err != nil {
			return err
		}
	}
	for _, l := range lines {
		if err := l.add(p); err != nil {
			return err
		}
	}
	if r.Webhooks.Conversion {
		if err := shareCRDConfig(c, r, p); err != nil {
			return err
		}
	}
	if theirs && !r.Webhooks.Conversion {
		return nil
	}
	if err := injectCA(c, !certified, p); err != nil {
		return err
	}
	if before == nil {
		return nil
	}
	return checkBuild(before, p)
}

// newLines returns the lines for the files that do not exist yet, and all lines of a kustomization that
// this plan creates again. theirs means that another tool or the user configured the webhooks, so that only
// files which are new for r count.
func newLines(c *project.Config, r project.Resource, theirs bool, m managerPatch, p *scaffold.Plan) []line {
	var all []line
	add := func(file, key, text, needs, entries string) {
		if p.Exists(entries) {
			entries = "" // it stays
		}
		all = append(all, line{Item: kustomizefile.Item{File: file, Key: key, Text: text}, needs: needs, entries: entries})
	}
	lacks := func(list, file string) bool { return !p.Exists(file) || p.Creates(list) }
	if !theirs && lacks(defaultEntries, webhookEntries) {
		add(defaultEntries, "resources", "../webhook", webhookService, webhookEntries)
	}
	if certs := certificatesOf(c); !theirs && lacks(defaultEntries, certs.entries) {
		add(defaultEntries, "resources", certs.item, certs.needed, certs.entries)
	}
	if !theirs && lacks(defaultEntries, webhookPatch) {
		item := kustomizefile.ManagerPatch(p, defaultEntries, path.Base(webhookPatch))
		if m.Name != "" {
			item = kustomizefile.NamedPatch(defaultEntries, path.Base(webhookPatch), m.Kind, m.Name, m.alone)
		}
		all = append(all, line{Item: item, needs: webhookPatch})
	}
	if !theirs && lacks(policyEntries, webhookPolicy) {
		add(policyEntries, "resources", path.Base(webhookPolicy), webhookPolicy, "")
	}
	// A new list also contains the entries of other kinds.
	inFolder := !theirs || p.Exists(webhookEntries)
	own := []project.Resource{r}
	if inFolder && (!p.Exists(webhookEntries) && anyAdmission(c.Resources) || !p.Exists(webhookManifests) && anyAdmission(own)) {
		add(webhookEntries, "resources", path.Base(webhookManifests), webhookEntries, "")
	}
	if patch := crdPatch(c, r, p); r.Webhooks.Conversion && lacks(crdEntries, patch) {
		add(crdEntries, "patches", "path: patches/"+path.Base(patch), patch, "")
		all[len(all)-1].Marker = "crdkustomizewebhookpatch"
		add(crdEntries, "configurations", path.Base(crdConfig), patch, "")
	}
	return all
}

// webhookSink omits the network policy if the project has no other policies, because the user
// decided against them. In a repository that operon did not start, files that fit its manager stay.
func webhookSink(p *scaffold.Plan) render.Sink {
	seed := plugin.SeedOwn(p)
	return func(name string, mode fs.FileMode, content []byte) error {
		stays := hasTheirDefault(p) && fitsManager(name) && p.Exists(name) && !p.Forced()
		if name == webhookPolicy && !p.Exists(policyEntries) || stays {
			return nil
		}
		return seed(name, mode, content)
	}
}

// anyAdmission reports whether a webhook defaults or validates. Only these have a generated
// configuration.
func anyAdmission(all []project.Resource) bool {
	for _, r := range all {
		if r.Webhooks != nil && (r.Webhooks.Defaulting || r.Webhooks.Validation) {
			return true
		}
	}
	return false
}

// crdPatch returns the file that makes the API server convert r with a webhook.
func crdPatch(c *project.Config, r project.Resource, p *scaffold.Plan) string {
	named := func(words string) string {
		return "config/crd/patches/webhook_in_" + strings.TrimSuffix(words, r.Lower()) + r.PluralName() + ".yaml"
	}
	return named(strings.Join(kindWords(c, r, p, named), "_"))
}

// line is an item of a kustomization that enables a part of the webhooks.
type line struct {
	kustomizefile.Item
	needs   string // required file; the user may have deleted it
	entries string // kustomization of a new folder, which is created with the line
}

// add enables the item if the required file exists. Otherwise it removes the new folder's
// kustomization.
func (l line) add(p *scaffold.Plan) error {
	if p.Exists(l.needs) {
		return l.Enable(p)
	}
	if l.entries == "" {
		return nil
	}
	return p.Remove(l.entries)
}
