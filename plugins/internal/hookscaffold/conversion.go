package hookscaffold

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
)

// schemas are the schemas of the project's CRDs, by CRD name and version.
type schemas map[[2]string]crdschema.Schema

func knownSchemas(p *scaffold.Plan, folders ...string) (schemas, error) {
	all := schemas{}
	err := eachCRDFile(p, IsYAML, folders, func(text []byte) error {
		crds, err := kubeapi.CRDObjects(text)
		for _, crd := range crds {
			for _, v := range crdschema.Versions(crd) {
				name, _ := v["name"].(string)
				all[[2]string{crd.GetName(), name}] = crdschema.Of(crd, name)
			}
		}
		return err
	})
	return all, err
}

// of returns the source and target schemas of a conversion step.
func (s schemas) of(c Conversion, step Step) (from, to crdschema.Schema) {
	return s[[2]string{c.CRD, step.From}], s[[2]string{c.CRD, step.To}]
}

// example returns a small object of a version of the kind.
func (c Conversion) example(version string) object {
	k := Kind{APIVersion: c.Group + "/" + version, Kind: c.Kind, ClusterScoped: c.Scope == scopeName(true)}
	return k.example()
}

// test returns a test with an object that has all fields of its version. It expects those
// fields that the other version has too. The user adds the others.
func (c Conversion) test(s Step, known schemas) test {
	from, to := c.example(s.From), c.example(s.To)
	a, b := known.of(c, s)
	sample := a.Sample()
	maps.Copy(from, sample)
	maps.Copy(to, b.Fit(sample))
	return test{Name: s.From + " becomes " + s.To, Events: []event{{
		Convert: object{"to": c.Group + "/" + s.To, "objects": []object{from}}, Expect: &expect{Converted: []object{to}}}}}
}

// differing returns an instruction for each field that the schemas of a step do not share.
func (s Step) differing(a, b crdschema.Schema) []string {
	var all []string
	for _, d := range crdschema.Differences(a, b) {
		switch {
		case d.To == "":
			all = append(all, fmt.Sprintf("%s (%s) is not in %s: keep its value elsewhere, for example in an annotation, or it is lost", d.Path, d.From, s.To))
		case d.From != "":
			all = append(all, fmt.Sprintf("%s is %s %s in %s, and %s %s in %s", d.Path, article(d.From), d.From, s.From, article(d.To), d.To, s.To))
		case d.Required:
			all = append(all, fmt.Sprintf("%s (%s) is new in %s, and required", d.Path, d.To, s.To))
		default:
			all = append(all, fmt.Sprintf("%s (%s) is new in %s", d.Path, d.To, s.To))
		}
	}
	return all
}

// warnLostFields warns about fields that the new hook would lose without further code.
func (h Hook) warnLostFields(file string, known schemas, p *scaffold.Plan) {
	for _, c := range h.Convert {
		for _, s := range c.Steps {
			var paths []string
			for _, d := range crdschema.Differences(known.of(c, s)) {
				if d.From != "" || d.Required {
					paths = append(paths, d.Path)
				}
			}
			if len(paths) > 0 {
				p.Warn(scaffold.Warning{File: file, Rule: "fields-differ", Message: fmt.Sprintf(
					"%s and %s differ in %s: convert these fields in the hook; its tests fail until then", s.From, s.To, strings.Join(slices.Compact(paths), ", "))})
			}
		}
	}
}

// SeedOnce is a sink for files that operon writes only once: CRDs, to which it later only adds
// versions, and files that are derived from the CRDs of that time.
func SeedOnce(p *scaffold.Plan) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		_, base, err := p.Before(name)
		if err != nil {
			return err
		}
		if base != nil && !p.Forced() {
			content = base
		}
		return p.Seed(name, mode, content)
	}
}
