package request

import (
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/project"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/rbac"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// Job is a controller-gen call with all defaults filled in.
type Job struct {
	Generators []Generator
	headerFile string // Request.HeaderFile
	LostHeader string // the default header file for Go code if the job's arguments leave it out, otherwise ""
	Paths      []string
	// Complete names the generators that run over the default paths and write to the
	// default folder. Their files that this run does not generate are stale.
	Complete   []string
	APIFolders []string // of the kinds in PROJECT
	Kinds      []string // of PROJECT, as Kind.group
	Store      *store.Store
	Environ    []string // Request.Environ
	Program    string   // Request.Program

	Places   []string            // of the arguments: lines of files, or PROJECT, defaults or arguments
	ownPaths bool                // Request.Paths replaced the paths in the arguments
	placesOf map[string][]string // the place of each generator, if it is known: several calls can be joined
	Args     []string            // the arguments as text, with paths from the root
	text     map[string]string   // of each generator in Args
}

// apis returns the folders of the types that the project defines, and their kinds.
func apis(c *project.Config) (folders, kinds []string) {
	if c == nil {
		return nil, nil
	}
	for _, r := range c.Resources {
		if r.API != nil && !r.HasExternalTypes() {
			folders, kinds = append(folders, c.APIDir(r)), append(kinds, r.Kind+"."+r.QualifiedGroup())
		}
	}
	return folders, kinds
}

// errNoGenerator means that the request selects no generator of a call.
var errNoGenerator = errors.New("no generator to run")

// only returns the named generators. Known generators that the arguments do not contain
// are ignored, so that `operon manifests` works in a project without webhooks.
func only(gens []Generator, names []string) ([]Generator, error) {
	known := slices.Sorted(maps.Keys(Generators()))
	for _, n := range names {
		if !slices.Contains(known, n) {
			hint := "valid values: " + strings.Join(known, ", ")
			if near := fault.Nearest(n, known); near != "" {
				hint = "did you mean " + near + "?"
			}
			return nil, fault.Usage(hint, "unknown generator %q", n)
		}
	}
	var kept []Generator
	for _, g := range gens {
		if len(names) == 0 || slices.Contains(names, g.Name) {
			kept = append(kept, g)
		}
	}
	if len(kept) == 0 {
		hint := "name one, such as crd, or omit the arguments"
		if len(gens) > 0 {
			var have []string
			for _, g := range gens {
				have = append(have, g.Name)
			}
			hint = "the arguments contain " + strings.Join(have, ", ")
		}
		return nil, &fault.Error{Code: fault.CodeUsage, Hint: hint, Err: errNoGenerator}
	}
	return kept, nil
}

// PlacesOf returns the places of the arguments of a generator.
func (j *Job) PlacesOf(generator string) []string {
	if at := j.placesOf[generator]; len(at) > 0 {
		return at
	}
	return j.Places
}

// Split returns the parts of a job with and without a generator, or nil for a part without any.
func (j *Job) Split(name string) (with, without *Job) {
	part := func(has bool) *Job {
		p := *j
		p.Generators = slices.DeleteFunc(slices.Clone(j.Generators), func(g Generator) bool { return (g.Name == name) != has })
		if len(p.Generators) == 0 {
			return nil
		}
		if len(p.Generators) < len(j.Generators) {
			p.Args = (&arguments{generators: p.Generators, paths: j.Paths, text: j.text}).args()
		}
		return &p
	}
	return part(true), part(false)
}

// In adds the place of the project's own call to an error about its arguments. Errors in the
// sources, and in paths that replace the paths of the call, are about other places.
func (j *Job) In(err error) error {
	notCalls := []string{fromArgs, fromDefaults, fromProject}
	if fault.Code(err) != fault.CodeUsage || j.ownPaths || slices.Contains(notCalls, j.Places[0]) {
		return err
	}
	return fault.In(strings.Join(j.Places, ", "), err)
}

// Validate reports unusable header files and output folders outside the project.
// Without it, the generators would report them after loading all packages, or not at
// all if they write nothing. [Request.Validate] reports a file that the request names.
func (j *Job) Validate(src *overlay.Project) error {
	for _, g := range j.Generators {
		if file := HeaderOf(g.Gen); file != "" {
			if err := src.CheckReadable(g.Name+":headerFile="+file, file); err != nil {
				return err
			}
			if err := checkHeader(g.Gen, file, src); err != nil {
				return err
			}
		}
		var folders []string
		switch rule := g.Rule.(type) {
		case genall.OutputToDirectory:
			folders = []string{string(rule)}
		case genall.OutputArtifacts:
			folders = []string{string(rule.Config), string(rule.Code)}
		}
		for _, f := range folders {
			if _, ok := overlay.Rel(src.Dir, filepath.FromSlash(f)); !ok {
				return OutsideError(g.Name, f)
			}
			if isCode(g.Gen) && slices.Contains(strings.Split(path.Clean(filepath.ToSlash(f)), "/"), "vendor") {
				return fault.Usage("name a folder of the project", "output:%s: %s is in a folder vendor, whose code go mod vendor removes", g.Name, f)
			}
		}
	}
	return nil
}

// Headers returns the absolute paths of all header files.
func (j *Job) Headers(src *overlay.Project) []string {
	names := []string{j.headerFile}
	for _, g := range j.Generators {
		names = append(names, HeaderOf(g.Gen))
	}
	var files []string
	for _, name := range names {
		if name != "" {
			files = append(files, overlay.Join(src.Dir, name))
		}
	}
	return files
}

// HeaderOf returns the header file of a generator, or "".
func HeaderOf(g Options) string {
	header := ""
	editHeader(g, func(file, _ *string) { header = *file })
	return header
}

// withHeader sets the header file of a generator of Go code, and the year of all
// generators that have a header file.
func withHeader(g Options, header, year string) Options {
	return editHeader(g, func(file, ownYear *string) {
		if isCode(g) && header != "" {
			*file = header
		}
		if *file != "" && year != "" {
			*ownYear = year
		}
	})
}

// isCode reports whether a generator writes Go code.
func isCode(g Options) bool {
	switch g.(type) {
	case deepcopy.Generator, ApplyConfiguration:
		return true
	}
	return false
}

// editHeader returns a generator after edit changed its header file and its year.
func editHeader(g Options, edit func(file, year *string)) Options {
	switch v := g.(type) {
	case deepcopy.Generator:
		edit(&v.HeaderFile, &v.Year)
		return v
	case ApplyConfiguration:
		edit(&v.HeaderFile, &v.year)
		return v
	case crd.Generator:
		edit(&v.HeaderFile, &v.Year)
		return v
	case rbac.Generator:
		edit(&v.HeaderFile, &v.Year)
		return v
	case webhook.Generator:
		edit(&v.HeaderFile, &v.Year)
		return v
	}
	return g
}

// OutsideError returns the error for an output folder or file outside the project.
func OutsideError(generator, name string) error {
	return fault.Usage("choose a folder below the project root, or output:"+generator+":stdout",
		"the output %s of %s is outside the project", filepath.ToSlash(name), generator)
}
