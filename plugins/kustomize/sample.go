package kustomize

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/internal/fields"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/yaml"
)

// sample is the content of a sample besides its metadata, derived from a schema.
type sample struct {
	Text    string   // YAML
	Unsure  []string // rules that the sample may not satisfy, in words
	FromCRD bool     // the schema comes from a CRD that the user writes
}

// sampleOf derives the sample from the CRD of r. ok is false if there is no CRD or no
// schema. Other code reports errors in the CRD.
func sampleOf(r project.Resource, p *scaffold.Plan) (s sample, ok bool, err error) {
	name := "config/crd/" + crdBase(r)
	text, err := p.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err != nil {
		return s, false, err
	}
	if err := yamledit.CheckSyntax(name, text); err != nil {
		return s, false, err
	}
	text, err = kyaml.YAMLToJSON(text)
	if err != nil {
		return s, false, fault.In(name, fault.Failed("correct the YAML of the file", "%v", err))
	}
	var crd unstructured.Unstructured
	if err := json.Unmarshal(text, &crd.Object); err != nil {
		return s, false, fault.In(name, fault.Failed("correct the YAML of the file", "%v", err))
	}
	schema := crdschema.Of(&crd, r.Version)
	if schema == nil {
		return s, false, nil
	}
	s, err = minimal(schema)
	s.FromCRD = true
	return s, err == nil, err
}

// sampleOfFields derives the sample from the fields of r that PROJECT records. ok is false if it records none.
func sampleOfFields(c *project.Config, r project.Resource) (s sample, ok bool, err error) {
	k, err := fields.Recorded(c, r)
	if err != nil || len(k.Spec.Members) == 0 {
		return s, false, err
	}
	s, err = minimal(k.Schema())
	return s, err == nil, err
}

// minimal returns a sample with the required fields and the defaults of a schema.
func minimal(schema crdschema.Schema) (s sample, err error) {
	object, unsure := schema.Minimal()
	s.Unsure = unsure
	if len(object) == 0 {
		return s, nil
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(object); err != nil {
		return s, err
	}
	s.Text = strings.TrimSuffix(out.String(), "\n")
	return s, enc.Close()
}

// followCRDs updates the samples of changed CRDs, unless the user has edited the samples.
func (k Plugin) followCRDs(c *project.Config, p *scaffold.Plan) error {
	for _, r := range c.Resources {
		name := c.SamplePath(r)
		disk, base, err := p.Before(name)
		if err != nil {
			return err
		}
		if r.API == nil || disk == nil || p.Seeded(name) || !bytes.Equal(disk, base) || !p.Exists("config/crd/"+crdBase(r)) {
			continue
		}
		if err := k.api(c, r, p, render.Only(p.Seed, name)); err != nil {
			return err
		}
	}
	return nil
}

// api renders the files of r.
func (k Plugin) api(c *project.Config, r project.Resource, p *scaffold.Plan, seed render.Sink) error {
	data, err := k.apiData(c, r, p)
	if err != nil {
		return err
	}
	listed, err := findCRDs(c, r, p)
	if err != nil {
		return err
	}
	without := ""
	if listed.file != crdEntries {
		without = path.Dir(crdEntries) // nothing would include its files
	}
	return treeWithout(without, "kustomize/api", apiVars(c, r, p), data, p, seed)
}
