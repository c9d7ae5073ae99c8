package bundlecmd

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/bundlecheck"
	"github.com/operon-dev/operon/internal/olm/csv"
	"github.com/operon-dev/operon/internal/scaffold"
	"sigs.k8s.io/yaml"
)

// planManifests adds the generated files, and removes the files of earlier runs.
func (o *generate) planManifests(p *scaffold.Plan, result *csv.Result) error {
	files, err := bundle.Encode(result.Manifests)
	if err != nil {
		return err
	}
	current := map[string]bool{}
	for name, content := range files {
		current[path.Join(o.outputDir, bundle.ManifestsDir, name)] = true
		if err := p.Generate(generator, path.Join(o.outputDir, bundle.ManifestsDir, name), content); err != nil {
			return err
		}
	}
	if result.Scorecard != nil {
		text, err := yaml.Marshal(result.Scorecard)
		if err != nil {
			return err
		}
		name := path.Join(o.outputDir, bundle.ScorecardFile)
		current[name] = true
		if err := p.Generate(generator, name, text); err != nil {
			return err
		}
	}
	return p.RemoveStale(generator, func(name string) bool { return current[name] || !strings.HasPrefix(name, o.outputDir+"/") })
}

// planMetadata adds the annotations, and labels with all annotations, including the ones the user added.
func (o *generate) planMetadata(p *scaffold.Plan, meta bundle.Metadata) error {
	name := path.Join(o.outputDir, bundle.AnnotationsFile)
	keep := !o.overwrite && p.Exists(name)
	if err := p.Share(name, 0, meta.NewAnnotations()); err != nil {
		return err
	}
	if !keep {
		if err := p.Edit(name, meta.EditAnnotations); err != nil {
			return fault.In(name, err)
		}
	}
	text, err := p.Read(name)
	if err != nil {
		return err
	}
	annotations, err := bundle.ReadAnnotations(text)
	if err != nil {
		return fault.In(name, err)
	}
	name = bundle.Dockerfile(o.outputDir)
	keep = !o.overwrite && p.Exists(name)
	if err := p.Share(name, 0, bundle.NewDockerfile(o.outputDir, annotations)); err != nil {
		return err
	}
	if keep {
		return nil
	}
	edit := func(src []byte) ([]byte, error) {
		return bundle.EditDockerfile(src, o.outputDir, annotations, meta.Unset())
	}
	return fault.In(name, p.Edit(name, edit))
}

// check refuses a bundle that bundle validate would refuse. The files are not written, so that the message names the values and not
// their lines.
func (o *generate) check(p *scaffold.Plan) error {
	files, err := p.ReadBelow(o.outputDir)
	if err != nil {
		return err
	}
	found := finding.Errors(bundlecheck.Check(files, bundlecheck.Options{}))
	if len(found) == 0 {
		return nil
	}
	var all []string
	for _, f := range found {
		all = append(all, path.Base(f.File)+": "+f.Message)
	}
	return fault.Usage("correct the objects or the base that the values come from, in "+o.kustomizeDir+" or the folders that it lists",
		"the bundle would be refused: %s", strings.Join(all, "; "))
}
