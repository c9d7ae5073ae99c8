package gen

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/scaffold"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/rbac"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// job is a request with every default filled in.
type job struct {
	generators []generator
	headerFile string // of the request
	leftOut    string // the header file of Go code by default, where this job writes it without one
	paths      []string
	// whole names the generators that run over the default paths into the
	// default place, so that a file they leave out is stale.
	whole []string
	store *store.Store
}

// newJob merges the request with the project's defaults and validates it.
func newJob(r Request, p *scaffold.Plan) (*job, error) {
	args, err := defaultArgs(r.Project, p, r.ThisYear)
	if err != nil {
		return nil, err
	}
	defaults, err := parse(args)
	if err != nil {
		return nil, fault.In("default arguments", err)
	}
	given, err := parse(r.Args)
	if err != nil {
		return nil, err
	}
	if len(r.Paths) > 0 {
		given.paths = r.Paths
	}
	merged := given.over(defaults)
	for _, a := range []*arguments{defaults, merged} {
		if len(a.paths) == 0 {
			a.paths = []string{"./..."}
		}
		if err := a.resolve(); err != nil {
			return nil, err
		}
	}
	j := &job{headerFile: r.HeaderFile, paths: merged.paths, store: r.Store}
	if j.generators, err = only(merged.generators, r.Only); err != nil {
		return nil, err
	}
	for i, g := range j.generators {
		j.generators[i].gen = withHeader(g.gen, r.HeaderFile, r.Year)
		d := defaults.find(g.name)
		if d >= 0 && g.name == "object" && headerOf(j.generators[i].gen) == "" {
			j.leftOut = headerOf(defaults.generators[d].gen)
		}
		if d >= 0 && defaults.generators[d].rule == g.rule && slices.Equal(merged.paths, defaults.paths) {
			j.whole = append(j.whole, g.name)
		}
	}
	return j, nil
}

// only keeps the named generators. A known one that the arguments do not hold
// is passed over, so that `manifests` works where a project has no webhooks.
func only(gens []generator, names []string) ([]generator, error) {
	known := slices.Sorted(maps.Keys(generators()))
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fault.Usage("generators: "+strings.Join(known, ", "), "unknown generator %q", n)
		}
	}
	var kept []generator
	for _, g := range gens {
		if len(names) == 0 || slices.Contains(names, g.name) {
			kept = append(kept, g)
		}
	}
	if len(kept) == 0 {
		hint := "name one, such as crd, or leave the arguments out"
		if len(gens) > 0 {
			var have []string
			for _, g := range gens {
				have = append(have, g.name)
			}
			hint = "the arguments hold " + strings.Join(have, ", ")
		}
		return nil, fault.Usage(hint, "no generator to run")
	}
	return kept, nil
}

// validate finds what would only fail once everything is loaded, or would not
// fail when there is nothing to write: header files that cannot be read, and
// output folders outside of the project.
func (j *job) validate(r Request, src *sources) error {
	if r.HeaderFile != "" {
		if err := src.readable("--header-file "+r.HeaderFile, r.HeaderFile); err != nil {
			return err
		}
	}
	for _, g := range j.generators {
		if file := headerOf(g.gen); file != "" {
			if err := src.readable(g.name+":headerFile="+file, file); err != nil {
				return err
			}
		}
		var folders []string
		switch rule := g.rule.(type) {
		case genall.OutputToDirectory:
			folders = []string{string(rule)}
		case genall.OutputArtifacts:
			folders = []string{string(rule.Config), string(rule.Code)}
		}
		for _, f := range folders {
			if _, ok := inProject(src.dir, filepath.FromSlash(f)); !ok {
				return outsideError(g.name, f)
			}
		}
	}
	return nil
}

// headers are the header files that must be there, by absolute path.
func (j *job) headers(src *sources) []string {
	names := []string{j.headerFile}
	for _, g := range j.generators {
		names = append(names, headerOf(g.gen))
	}
	var files []string
	for _, name := range names {
		if name != "" {
			files = append(files, below(src.dir, name))
		}
	}
	return files
}

func headerOf(g genall.Generator) string {
	switch v := g.(type) {
	case deepcopy.Generator:
		return v.HeaderFile
	case crd.Generator:
		return v.HeaderFile
	case rbac.Generator:
		return v.HeaderFile
	case webhook.Generator:
		return v.HeaderFile
	}
	return ""
}

// withHeader sets the header file of a generator of Go code, and the year of
// any generator that has a header file.
func withHeader(g genall.Generator, file, year string) genall.Generator {
	set := func(header, field *string) {
		if *header != "" && year != "" {
			*field = year
		}
	}
	switch v := g.(type) {
	case deepcopy.Generator:
		if file != "" {
			v.HeaderFile = file
		}
		set(&v.HeaderFile, &v.Year)
		return v
	case crd.Generator:
		set(&v.HeaderFile, &v.Year)
		return v
	case rbac.Generator:
		set(&v.HeaderFile, &v.Year)
		return v
	case webhook.Generator:
		set(&v.HeaderFile, &v.Year)
		return v
	}
	return g
}
