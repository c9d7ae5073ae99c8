package kustomize

import (
	"errors"
	"io/fs"
	"path"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/kustomizefile"
)

const (
	caReplacements = "config/default/webhook_replacements.yaml"
	caAnnotation   = "cert-manager.io/inject-ca-from"
	// caSource is the value of the annotation in a CRD's patch, in which the final
	// namespace and name of the certificate are not known yet.
	caSource = "system/serving-cert"

	annotation = "annotations:\n  " + caAnnotation + ": " + caSource
)

// injectCA plans that the manager's certificate has the right names, and that the API server
// trusts it for all webhooks of the project. It does nothing if the user disabled the
// certificates, or if another tool has already written this into the kustomization. It
// lists the new file only if the certificates are new.
func injectCA(c *project.Config, isNew bool, p *scaffold.Plan) error {
	w, err := readWiring(p)
	if err != nil || !w.certificates[certificatesOf(c).item] || w.complete(c) {
		return err
	}
	for _, patch := range w.untrusted(c, p) {
		if err := p.Edit(patch, annotate); err != nil {
			return &fault.Error{Code: fault.Code(err), Msg: "edit " + patch, Err: err,
				Hint: "add this by hand to metadata in " + patch + ", then repeat the command:\n" + annotation}
		}
	}
	if err := tree("kustomize/cainjection", nil, initData(c), p, plugin.SeedOwn(p)); err != nil || !isNew {
		return err
	}
	// A scaffold comment, to which kubebuilder adds items, may follow the other items.
	item := kustomizefile.Item{File: defaultEntries, Key: "replacements", Text: "path: " + path.Base(caReplacements), First: true}
	return line{Item: item, needs: caReplacements}.add(p)
}

// untrusted returns the patches of converted CRDs without the annotation by which
// webhook_replacements.yaml finds CRDs. Other tools write such patches. operon's patches have
// the annotation unless the user removed it.
func (w wiring) untrusted(c *project.Config, p *scaffold.Plan) []string {
	var patches []string
	if c.WebhookCerts() != project.CertManager {
		return nil
	}
	for _, r := range c.Resources {
		if r.Webhooks == nil || !r.Webhooks.Conversion || w.copied("CustomResourceDefinition", r.CRDName()) {
			continue
		}
		patch := crdPatch(c, r, p)
		if p.Unmanaged(patch) && !annotatedElsewhere(r, p) {
			patches = append(patches, patch)
		}
	}
	return patches
}

// annotatedElsewhere reports whether a listed patch annotates the CRD of r: kubebuilder v2 and v3 wrote one for it.
func annotatedElsewhere(r project.Resource, p *scaffold.Plan) bool {
	crds := readLists(p, crdEntries)
	for _, entry := range crds.items("patches") {
		if m, ok := entry.(map[string]any); ok {
			entry = m["path"]
		}
		name, _ := entry.(string)
		src, err := p.Read(crds.path(name))
		if err != nil {
			continue
		}
		doc, err := yamledit.Decode(src)
		if err != nil {
			continue
		}
		metadata, _ := doc.Value["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		if metadata["name"] == r.CRDName() && annotations[caAnnotation] != nil {
			return true
		}
	}
	return false
}

// annotate adds the annotation to a CRD's patch.
func annotate(src []byte) ([]byte, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, err
	}
	metadata, _ := doc.Value["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations[caAnnotation] != nil {
		return src, nil
	}
	want := with(doc.Value, "metadata", with(metadata, "annotations", with(annotations, caAnnotation, caSource)))
	return yamledit.Reconcile(src, doc.Value, want, nil)
}

// with returns m with another value of key.
func with(m map[string]any, key string, value any) map[string]any {
	next := map[string]any{key: value}
	for k, v := range m {
		if k != key {
			next[k] = v
		}
	}
	return next
}

// items returns v as a list, or nil.
func items(v any) []any {
	list, _ := v.([]any)
	return list
}

// wiring is the certificate configuration in config/default/kustomization.yaml.
type wiring struct {
	certificates map[string]bool // the active items of folders for certificates
	copies       map[string]int  // parts of names that its own replacements copy, by the kind and name they go to
}

func readWiring(p *scaffold.Plan) (wiring, error) {
	w := wiring{certificates: map[string]bool{}, copies: map[string]int{}}
	src, err := p.Read(defaultEntries)
	if errors.Is(err, fs.ErrNotExist) {
		return w, kustomizefile.Missing(p, defaultEntries, "resources", "- ../webhook")
	}
	if err != nil {
		return w, err
	}
	doc, err := yamledit.Decode(src)
	if err != nil {
		return w, fault.In(defaultEntries, err)
	}
	for _, entry := range items(doc.Value["resources"]) {
		s, ok := entry.(string)
		for _, certs := range []certificates{certManager, selfCerts} {
			if ok && path.Join(path.Dir(defaultEntries), s) == path.Dir(certs.entries) {
				w.certificates[certs.item] = true
			}
		}
	}
	for _, r := range items(doc.Value["replacements"]) {
		replacement, _ := r.(map[string]any)
		for _, t := range items(replacement["targets"]) {
			target, _ := t.(map[string]any)
			to, _ := target["select"].(map[string]any)
			kind, _ := to["kind"].(string)
			name, _ := to["name"].(string)
			w.copies[kind+"/"+name]++
		}
	}
	return w, nil
}

// copied reports whether both parts of a name are copied to the object of that kind and name,
// or to all objects of the kind if name is "".
func (w wiring) copied(kind, name string) bool { return w.copies[kind+"/"+name] >= 2 }

// complete reports whether the kustomization itself covers all webhooks of c.
func (w wiring) complete(c *project.Config) bool {
	done := w.copied("Certificate", "serving-cert")
	for _, r := range c.Resources {
		if r.Webhooks == nil {
			continue
		}
		done = done && (!r.Webhooks.Defaulting || w.copied("MutatingWebhookConfiguration", "")) &&
			(!r.Webhooks.Validation || w.copied("ValidatingWebhookConfiguration", "")) &&
			(!r.Webhooks.Conversion || w.copied("CustomResourceDefinition", r.CRDName()))
	}
	return done
}
