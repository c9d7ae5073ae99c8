package kustomize

import (
	"bytes"
	"fmt"
	"maps"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/fields"
	"go.yaml.in/yaml/v3"
)

// isUsersSample reports whether the user has changed the sample of r, or operon has made it
// from a sample of the user. It is then not merged with the template, most lines of which the
// user has replaced, but edited to what the project needs: the namespace of a limited manager,
// and the labels that controllers select.
func isUsersSample(c *project.Config, r project.Resource, p *scaffold.Plan) (bool, error) {
	if r.HasExternalTypes() || p.Forced() {
		return false, nil
	}
	name := c.SamplePath(r)
	if further(c, r) {
		return p.Exists(name) && p.HasBase(name), nil
	}
	return p.Edited(name)
}

// sampleLabels returns the labels, each key=value, that the controllers of the event's kind
// select.
func sampleLabels(e plugin.Event) []string {
	return append(e.Project.AllFeatures(*e.Resource).Labels, e.Strings("label")...)
}

// labelSample adds the labels, each key=value, that controllers select to the sample of r. It
// does not restore a deleted sample or a label that the user removed.
func labelSample(c *project.Config, r project.Resource, labels []string, p *scaffold.Plan) error {
	name := c.SamplePath(r)
	if r.HasExternalTypes() || !p.Exists(name) {
		return nil
	}
	before, err := metadataBefore(name, p)
	if err != nil {
		return err
	}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		if had, ok := before.base.Labels[key]; ok && had == value && !p.Seeded(name) {
			continue // the user removed it, or it is there
		}
		lines := fmt.Sprintf("labels:\n  %s: %s", yamledit.Scalar(key), yamledit.Scalar(value))
		err := fitSample(name, p, lines, func(src []byte) ([]byte, error) {
			return yamledit.Set(src, []string{"metadata", "labels"}, key, value)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addRequired adds the required ones of new fields to a sample that the user has changed.
func addRequired(e plugin.Event, p *scaffold.Plan) error {
	added, err := fields.ParseKind(e.Resource.Kind, e.Strings(fields.Option))
	if err != nil {
		return err
	}
	name := e.Project.SamplePath(*e.Resource)
	users, err := isUsersSample(e.Project, *e.Resource, p)
	if err != nil || !users || added.IsEmpty() {
		return err
	}
	return fitSample(name, p, "", added.AddToSample)
}

// fitNamespace sets the namespace of a sample if the manager is limited to it, and removes it
// otherwise. A namespace that the user set or removed stays so.
func fitNamespace(name, namespace string, limited bool, p *scaffold.Plan) error {
	before, err := metadataBefore(name, p)
	switch {
	case err != nil:
		return err
	case limited && before.base.Namespace == "" && before.disk.Namespace == "":
		return fitSample(name, p, "namespace: "+namespace, func(src []byte) ([]byte, error) {
			return yamledit.Set(src, []string{"metadata"}, "namespace", namespace)
		})
	case !limited && before.base.Namespace == namespace && before.disk.Namespace == namespace:
		return p.Edit(name, func(src []byte) ([]byte, error) { return dropNamespace(src), nil })
	}
	return nil
}

// dropNamespace removes metadata.namespace. A sample in which it is not found stays the same:
// the namespace does no harm.
func dropNamespace(src []byte) []byte {
	src = bytes.Replace(src, []byte("  "+namespaceComment+edit.LineEnd(src)), nil, 1)
	doc, err := yamledit.Decode(src)
	if err != nil {
		return src
	}
	metadata, _ := doc.Value["metadata"].(map[string]any)
	want, rest := maps.Clone(doc.Value), maps.Clone(metadata)
	delete(rest, "namespace")
	want["metadata"] = rest
	next, err := yamledit.Reconcile(src, doc.Value, want, func(a, b any) bool { return false })
	if err != nil {
		return src
	}
	return next
}

// namespaceComment is the comment in the template above the namespace.
const namespaceComment = "# The manager watches only its own namespace."

// fitSample edits a sample. If it is not a single YAML object, a warning has the lines to add
// below its metadata. The base gets them in any case, so that the warning is not repeated.
func fitSample(name string, p *scaffold.Plan, lines string, f func([]byte) ([]byte, error)) error {
	err := p.Edit(name, f)
	if err == nil {
		return nil
	}
	p.Warn(scaffold.Warning{File: name, Rule: "sample-not-edited", Lines: lines,
		Message: "cannot edit the sample; add these lines below its metadata: " + err.Error()})
	return p.EditBase(name, f)
}

// metadata is what operon edits of a sample's metadata.
type metadata struct {
	Namespace string
	Labels    map[string]string
}

// metadataBefore returns the metadata of a sample, and of its base. They are empty if they
// cannot be read.
func metadataBefore(name string, p *scaffold.Plan) (before struct{ disk, base metadata }, err error) {
	disk, base, err := p.Before(name)
	read := func(src []byte) metadata {
		var sample struct{ Metadata metadata }
		_ = yaml.Unmarshal(src, &sample)
		return sample.Metadata
	}
	before.disk, before.base = read(disk), read(base)
	return before, err
}
