package kustomize

import (
	"errors"
	"io/fs"
	"path"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

const (
	caReplacements = "config/default/webhook_replacements.yaml"
	caAnnotation   = "cert-manager.io/inject-ca-from"
	// caSource is what the annotation says in a CRD's patch, where the
	// certificate's final namespace and name are not known yet.
	caSource = "system/serving-cert"

	annotation = "annotations:\n  " + caAnnotation + ": " + caSource
)

// injectCA plans that the manager's certificate is issued for the right name,
// and that the API server trusts it wherever it calls a webhook of the project.
// Nothing is to do where the project does without cert-manager, or where another
// tool has written all that into the kustomization. The line is added when the
// certificates are new, too.
func injectCA(c *project.Config, isNew bool, p *scaffold.Plan) error {
	w, err := readWiring(p)
	if err != nil || !w.certManager || w.complete(c) {
		return err
	}
	for _, patch := range w.untrusted(c, p) {
		if err := p.Edit(patch, annotate); err != nil {
			return &fault.Error{Code: fault.Code(err), Msg: "edit " + patch, Err: err,
				Hint: "add this by hand to metadata in " + patch + ", then repeat the command:\n" + annotation}
		}
	}
	if err := tree("kustomize/cainjection", nil, initData(c), p, seedOrKeep(p)); err != nil || !isNew {
		return err
	}
	// The others may be followed by a scaffold comment, with lists that grow.
	return line{name: defaultEntries, key: "replacements", item: "path: " + path.Base(caReplacements), needs: caReplacements, first: true}.add(p)
}

// untrusted are the patches of the converted CRDs whose conversion the API server
// has no reason to trust: other tools write patches without the annotation that
// webhook_replacements.yaml finds CRDs by. Those that operon writes have it,
// unless the user has taken it out.
func (w wiring) untrusted(c *project.Config, p *scaffold.Plan) []string {
	var patches []string
	for _, r := range c.Resources {
		if r.Webhooks == nil || !r.Webhooks.Conversion || w.copied("CustomResourceDefinition", crdName(r)) {
			continue
		}
		patch := crdPatch(c, r, p)
		if disk, base, err := p.Before(patch); err == nil && disk != nil && base == nil {
			patches = append(patches, patch)
		}
	}
	return patches
}

// annotate adds the annotation to a CRD's patch that has none.
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

// with is m with another value of key.
func with(m map[string]any, key string, value any) map[string]any {
	next := map[string]any{key: value}
	for k, v := range m {
		if k != key {
			next[k] = v
		}
	}
	return next
}

// items is v as a list; anything else has none.
func items(v any) []any {
	list, _ := v.([]any)
	return list
}

// wiring is what config/default/kustomization.yaml says about certificates.
type wiring struct {
	certManager bool           // ../certmanager is active
	copies      map[string]int // parts of names that its own replacements copy, by the kind and name they go to
}

func readWiring(p *scaffold.Plan) (wiring, error) {
	w := wiring{copies: map[string]int{}}
	src, err := p.Read(defaultEntries)
	if errors.Is(err, fs.ErrNotExist) {
		return w, missing(defaultEntries, "resources", "- ../webhook")
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
		w.certManager = w.certManager || ok && path.Join(path.Dir(defaultEntries), s) == path.Dir(issuerEntries)
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

// copied reports whether both parts of a name reach the object of that kind and
// name, or all of the kind for the name "".
func (w wiring) copied(kind, name string) bool { return w.copies[kind+"/"+name] >= 2 }

// complete reports whether the kustomization itself serves all webhooks of c.
func (w wiring) complete(c *project.Config) bool {
	done := w.copied("Certificate", "serving-cert")
	for _, r := range c.Resources {
		if r.Webhooks == nil {
			continue
		}
		done = done && (!r.Webhooks.Defaulting || w.copied("MutatingWebhookConfiguration", "")) &&
			(!r.Webhooks.Validation || w.copied("ValidatingWebhookConfiguration", "")) &&
			(!r.Webhooks.Conversion || w.copied("CustomResourceDefinition", crdName(r)))
	}
	return done
}
