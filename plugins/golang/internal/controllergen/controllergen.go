// Package controllergen reads from the project's own controller-gen calls what they generate, and completes them.
package controllergen

import (
	"bytes"
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// resolve returns what the project generates. If the arguments are wrong it is nothing: generating reports them.
func resolve(c *project.Config, p *scaffold.Plan) *request.Jobs {
	jobs, err := request.Resolve(request.Request{Project: c}, p)
	if err != nil {
		return &request.Jobs{}
	}
	return jobs
}

// Outputs is where the project generates what test suites use.
type Outputs struct {
	CRDs     string // folder
	Webhooks string // folder of the configuration of webhooks
	// WithoutWebhooks is the place of a call that could generate the configuration of webhooks if none does, or "".
	WithoutWebhooks string
}

// OutputsOf reads the outputs of the project's generators.
func OutputsOf(c *project.Config, p *scaffold.Plan) Outputs {
	jobs := resolve(c, p)
	o := Outputs{CRDs: cmp.Or(jobs.Folder("crd"), "config/crd/bases"), Webhooks: cmp.Or(jobs.Folder("webhook"), "config/webhook")}
	if len(jobs.List) > 0 && !jobs.Runs("webhook") {
		o.WithoutWebhooks = jobs.List[0].Places[0]
	}
	return o
}

// Command is what a command allows and knows about the calls.
type Command struct {
	Project *project.Config
	Plan    *scaffold.Plan
	Wired   bool // it may edit the calls
	Replay  bool // it repeats an earlier one
}

// Read makes the generators read a new package of a resource. Calls that name folders, none of which contains
// the package, get a line with the folder above the folders of the group and the version. Read warns about a call that
// does not have a line for each path.
func (c Command) Read(dir string, r project.Resource, names ...string) error {
	jobs := resolve(c.Project, c.Plan)
	for _, name := range names {
		missing := jobs.Missing(name, dir)
		if len(missing) == 0 {
			continue
		}
		above := aboveGroups(dir, r)
		if err := c.edit(places(missing, name), func(file string, src []byte) ([]byte, bool) {
			return calls.AddPath(c.Plan, file, src, name, above)
		}); err != nil {
			return err
		}
		jobs = resolve(c.Project, c.Plan)
		for _, call := range places(jobs.Missing(name, dir), name) {
			c.Plan.Warn(scaffold.Warning{File: dir, Rule: "not-read", Lines: "paths=" + above,
				Message: "the generator " + name + " does not read this folder; add this argument to the call in " + call})
		}
	}
	return nil
}

// aboveGroups returns the pattern for the folder above the folders of the group and the version.
func aboveGroups(dir string, r project.Resource) string {
	if path.Base(dir) == r.Version {
		dir = path.Dir(dir)
	}
	if path.Base(dir) == r.Group {
		dir = path.Dir(dir)
	}
	return "./" + dir + "/..."
}

// Apply adds the generator of apply configurations to the calls that generate CRDs, unless one has it. Without a
// place for it, Apply returns an error, or warns if it repeats an earlier command.
func (c Command) Apply() error {
	jobs := resolve(c.Project, c.Plan)
	crds := jobs.With("crd")
	if len(crds) == 0 {
		crds = jobs.List // which cannot be edited
	}
	at := places(crds, "crd")
	if jobs.Runs(request.ApplyConfigurations) {
		at = c.added(at)
	}
	if len(at) == 0 {
		return nil
	}
	if err := c.edit(at, func(file string, src []byte) ([]byte, bool) {
		return calls.AddGenerator(c.Plan, file, src, "crd", applyArgument(src, c.Plan))
	}); err != nil {
		return err
	}
	if resolve(c.Project, c.Plan).Runs(request.ApplyConfigurations) {
		return nil
	}
	where, argument := strings.Join(at, ", "), applyArgument(nil, c.Plan)
	if c.Replay {
		c.Plan.Warn(scaffold.Warning{File: where, Rule: "not-generated", Lines: argument,
			Message: "these arguments of controller-gen do not generate apply configurations; add this one"})
		return nil
	}
	return fault.Failed("add "+argument+" there, and repeat the command",
		"the arguments of controller-gen in %s do not generate apply configurations, and operon cannot edit them", where)
}

// added returns the places in files that this plan seeds anew and to which an earlier command added the generator.
// If the user changed the call as well, the calls that the plan reads are the user's, and have it already: without
// it, the new version would take it away, which conflicts with the change of the user.
func (c Command) added(at []string) []string {
	return slices.DeleteFunc(at, func(place string) bool {
		file, _, _ := strings.Cut(place, ":")
		_, base, err := c.Plan.Before(file)
		return err != nil || !c.Plan.Seeded(file) || !bytes.Contains(base, []byte(request.ApplyConfigurations))
	})
}

// applyArgument returns the argument for a call in a file. The Makefile of operon calls controller-gen with
// or without a header.
func applyArgument(src []byte, p *scaffold.Plan) string {
	header := ":headerFile=" + request.HeaderFile
	if optional := "$(if $(wildcard " + request.HeaderFile + ")," + header + ")"; strings.Contains(string(src), optional) {
		return request.ApplyConfigurations + optional
	}
	if !p.Exists(request.HeaderFile) {
		header = ""
	}
	return request.ApplyConfigurations + header
}

// places returns where the calls of jobs run a generator: as FILE:LINE, or the name of a source without lines.
func places(jobs []*request.Job, generator string) []string {
	var all []string
	for _, job := range jobs {
		for _, place := range job.PlacesOf(generator) {
			if !slices.Contains(all, place) {
				all = append(all, place)
			}
		}
	}
	return all
}

// errNoPlace means that no call in a version of a file can have the argument.
var errNoPlace = errors.New("no place for the argument")

// edit edits the calls in the files of places. A plan holds several versions of a file, in which a call has other
// lines: add searches it in each.
func (c Command) edit(places []string, add func(file string, src []byte) ([]byte, bool)) error {
	done := map[string]bool{}
	for _, place := range places {
		file, _, inFile := strings.Cut(place, ":")
		if !inFile || done[file] || !c.Wired || !c.Plan.Exists(file) {
			continue
		}
		done[file] = true
		err := c.Plan.Edit(file, func(src []byte) ([]byte, error) {
			next, ok := add(file, src)
			if !ok {
				return nil, errNoPlace
			}
			return next, nil
		})
		if err != nil && !errors.Is(err, errNoPlace) {
			return err
		}
	}
	return nil
}
