package request

import (
	"errors"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Jobs is what a request generates.
type Jobs struct {
	List    []*Job
	Unclear []calls.Call // calls of the project that operon does not understand
	Skipped []Skipped
	Tools   string           // the choice in PROJECT; see ToolsKey
	Pin     func() calls.Pin // the version of controller-tools that the project installs
	// Decisions say what happens to files that operon did not write.
	Decisions Decisions

	keys     []string   // see keysIn
	defaults *arguments // if a call is not understood
}

// Guesses reports whether the project's own calls are not understood, so that the jobs have the default arguments.
func (j *Jobs) Guesses() bool {
	return len(j.Unclear) > 0 && len(j.List) == 1 && j.List[0].Places[0] == fromDefaults
}

// OtherTools returns the version of controller-tools that PROJECT chooses instead of the one in
// this program. ok is false if there is none.
func (j *Jobs) OtherTools() (version string, ok bool) {
	return j.Tools, j.Tools != "" && j.Tools != OwnTools && j.Tools != controllertools.Version()
}

// Resolve merges the request with the arguments of the project, and validates them: the arguments in
// PROJECT, else the arguments of the project's own controller-gen calls, else the defaults.
func Resolve(r Request, p *scaffold.Plan) (*Jobs, error) {
	found, err := projectCalls(r, p)
	if err != nil {
		return nil, err
	}
	given, err := parse(r.Args)
	if err != nil {
		return nil, err
	}
	if len(r.Paths) > 0 {
		given.paths = r.Paths
	}
	res := &Jobs{Unclear: found.unclear, Skipped: found.skipped, Pin: found.pin, keys: keysIn(r.Project), defaults: found.defaults}
	if res.Tools, err = tools(r.Project); err != nil {
		return nil, err
	}
	if res.Decisions, err = DecisionsOf(r.Project); err != nil {
		return nil, err
	}
	if len(r.Args)+len(r.Paths) > 0 || r.HeaderFile != "" || r.Year != "" {
		res.Unclear = nil
	}
	list := found.calls
	if len(list) > 1 && len(r.Args)+len(r.Paths) > 0 {
		if len(r.Args) == 0 {
			return nil, fault.Usage("name the generator and its output too, as in crd paths="+r.Paths[0]+" output:crd:dir=...",
				"--paths does not say which of the %d calls of the project it means", len(list))
		}
		builtin, err := defaultCall(r, p)
		if err != nil {
			return nil, err
		}
		list = []*call{builtin}
	}
	var none error
	for _, c := range list {
		j, err := newJob(r, c, given, p)
		switch {
		case errors.Is(err, errNoGenerator):
			none = err
		case err != nil:
			return nil, err
		default:
			res.List = append(res.List, j)
		}
	}
	if len(res.List) == 0 {
		return nil, none
	}
	return res, nil
}

// newJob returns the job for a call of the project with the arguments of the command line.
func newJob(r Request, defaults *call, given *arguments, p *scaffold.Plan) (*Job, error) {
	merged := given.over(defaults.arguments)
	if len(merged.paths) == 0 {
		merged.paths = []string{"./..."}
	}
	if err := merged.resolve(); err != nil {
		return nil, err
	}
	folders, kinds := apis(r.Project)
	j := &Job{
		headerFile: r.HeaderFile, Paths: merged.paths, APIFolders: folders, Kinds: kinds,
		Environ: r.Environ, Program: r.Program, Store: r.Store,
		Places: defaults.places, ownPaths: len(r.Paths) > 0, placesOf: defaults.placesOf,
	}
	if len(r.Args) > 0 {
		j.Places, j.placesOf = []string{fromArgs}, nil
	}
	var err error
	if j.Generators, err = only(merged.generators, r.Only); err != nil {
		return nil, err
	}
	merged.generators = j.Generators
	j.Args, j.text = merged.args(), merged.text
	for i, g := range j.Generators {
		j.Generators[i].Gen = withHeader(g.Gen, r.HeaderFile, r.Year)
		if g.Name == ApplyConfigurations {
			j.Generators[i].Gen = editHeader(j.Generators[i].Gen, func(file, year *string) {
				if *file != "" && *year == "" {
					header, _ := p.Read(*file) // Validate reports the error
					*year = yearOf(r.Project, p, string(header), r.ThisYear)
				}
			})
		}
		d := defaults.find(g.Name)
		if d >= 0 && g.Name == "object" && HeaderOf(j.Generators[i].Gen) == "" {
			j.LostHeader = HeaderOf(defaults.generators[d].Gen)
		}
		if d >= 0 && defaults.generators[d].Rule == g.Rule && slices.Equal(merged.paths, defaults.paths) {
			j.Complete = append(j.Complete, g.Name)
		}
	}
	return j, nil
}
