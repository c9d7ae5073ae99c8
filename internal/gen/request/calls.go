package request

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/scaffold"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// Places of arguments that are not in a line of a file.
const (
	fromProject  = "PROJECT"
	fromDefaults = "defaults"
	fromArgs     = "arguments"
)

// call is a controller-gen call with parsed arguments, whose paths start from the root.
type call struct {
	*arguments
	places   []string            // of the call, such as Makefile:12
	placesOf map[string][]string // by generator: the places that run it
	printed  string              // the generators whose output goes to stdout, which are left out
}

func newCall(a *arguments, from ...string) *call {
	return &call{arguments: a, places: from, placesOf: map[string][]string{}}
}

// found is what the project's own files say about generating.
type found struct {
	calls   []*call // understood, and merged
	unclear []calls.Call
	skipped []Skipped
	pin     func() calls.Pin

	defaults *arguments // without calls in PROJECT
}

// Skipped is a call that operon does not run and that does not matter to it.
type Skipped struct {
	From   string `json:"from"`
	Reason string `json:"reason"`
	// Printed means that the call prints its output.
	Printed bool `json:"-"`
}

// findCalls finds the calls in the project's own files. Those that run exactly the default
// generators become the default call.
func findCalls(r Request, p *scaffold.Plan, defaults *call) *found {
	f := &found{defaults: defaults.arguments}
	all, pin := calls.Find(p)
	f.pin = func() calls.Pin { return pin }
	var understood []*call
	for _, c := range all {
		parsed, outside, why := callOf(c)
		switch {
		case why != "":
			c.Unclear = why
			f.unclear = append(f.unclear, c)
		case len(parsed.generators) > 0:
			if c.ClockYear {
				parsed.setYear(r, p)
			}
			understood = append(understood, parsed)
		case parsed.printed == "" && outside:
			f.skipped = append(f.skipped, Skipped{From: c.At(), Reason: "it writes only to folders outside the project"})
		}
		if why == "" && parsed.printed != "" {
			reason := "it prints the output of " + parsed.printed + ", so operon neither writes nor compares that"
			f.skipped = append(f.skipped, Skipped{From: c.At(), Reason: reason, Printed: true})
		}
	}
	if len(f.unclear) == 0 && len(understood) > 0 && sameAs(understood, defaults.arguments) {
		defaults.places = nil
		for _, c := range understood {
			defaults.places = append(defaults.places, c.places...)
			for name, places := range c.placesOf {
				defaults.placesOf[name] = append(defaults.placesOf[name], places...)
			}
		}
		f.calls = []*call{defaults}
		return f
	}
	f.calls = merge(understood)
	return f
}

// callOf parses a call. why says what is not understood. outside means that generators are left
// out because they write to a folder outside the project, such as a temporary one.
func callOf(c calls.Call) (parsed *call, outside bool, why string) {
	a, err := parse(relevant(c.Args))
	switch {
	case c.Unclear != "" && (err != nil || !a.prints()):
		return nil, false, "it depends on " + c.Unclear
	case err != nil:
		return nil, false, err.Error()
	case len(a.paths) == 0 && len(a.generators) > 0:
		return nil, false, "it has no paths"
	}
	if err := a.resolve(); err != nil {
		return nil, false, err.Error()
	}
	var printed []string
	a.generators = slices.DeleteFunc(a.generators, func(g Generator) bool {
		if g.Rule == genall.OutputToStdout {
			printed = append(printed, g.Name)
		}
		return g.Rule == genall.OutputToNothing || g.Rule == genall.OutputToStdout
	})
	outside, why = a.rebase(c.Dir)
	parsed = newCall(a, c.At())
	parsed.printed = strings.Join(printed, ", ")
	for _, g := range a.generators {
		parsed.placesOf[g.Name] = parsed.places
	}
	return parsed, outside, why
}

// prints reports whether all output goes to stdout, so that no file depends on how the call runs.
func (a *arguments) prints() bool {
	copied := *a
	copied.generators = slices.Clone(a.generators)
	return len(a.generators) > 0 && copied.resolve() == nil &&
		!slices.ContainsFunc(copied.generators, func(g Generator) bool { return g.Rule != genall.OutputToStdout })
}

// relevant returns the arguments of a call without those that do not matter to operon.
func relevant(given []string) []string {
	var args []string
	for _, arg := range given {
		// kubebuilder v3 wrote options that later versions of controller-gen do not have.
		for _, old := range []string{"trivialVersions=true", "trivialVersions=false", "preserveUnknownFields=false"} {
			arg = strings.TrimRight(strings.Replace(strings.Replace(arg, old+",", "", 1), old, "", 1), ",:")
		}
		args = append(args, arg)
	}
	return args
}

// setYear sets the year of headers that the clock sets in the project.
func (c *call) setYear(r Request, p *scaffold.Plan) {
	for i, g := range c.generators {
		c.generators[i].Gen = editHeader(g.Gen, func(file, year *string) {
			if *file == "" || *year != "" {
				return
			}
			header, _ := p.Read(*file) // Validate reports the error
			if *year = yearOf(r.Project, p, string(header), r.ThisYear); *year != "" {
				c.text[g.Name] += ",year=" + *year
			}
		})
	}
}

// sameAs reports whether the calls run exactly the default generators, with the default
// options.
func sameAs(list []*call, defaults *arguments) bool {
	found := map[string]bool{}
	for _, c := range list {
		for _, g := range c.generators {
			i := defaults.find(g.Name)
			if i < 0 || !slices.Equal(c.paths, defaults.paths) || !reflect.DeepEqual(g, defaults.generators[i]) {
				return false
			}
			found[g.Name] = true
		}
	}
	return len(found) == len(defaults.generators)
}

// merge joins calls over the same paths. A generator that several of them run with other
// options or to another folder stays in a call of its own.
func merge(list []*call) []*call {
	var merged []*call
	for _, c := range list {
		for _, g := range c.generators {
			into := slices.IndexFunc(merged, func(m *call) bool {
				i := m.find(g.Name)
				return slices.Equal(m.paths, c.paths) && (i < 0 || reflect.DeepEqual(m.generators[i], g))
			})
			if into < 0 {
				into = len(merged)
				merged = append(merged, newCall(&arguments{paths: c.paths, rules: map[string]genall.OutputRule{}, text: map[string]string{}}))
			}
			m := merged[into]
			if m.find(g.Name) < 0 {
				m.generators = append(m.generators, g)
				m.rules[g.Name], m.text[g.Name] = g.Rule, c.text[g.Name]
			}
			if !slices.Contains(m.places, c.places[0]) {
				m.places = append(m.places, c.places[0])
			}
			m.placesOf[g.Name] = append(m.placesOf[g.Name], c.placesOf[g.Name]...)
		}
	}
	return merged
}

// args returns the arguments as a command line has them, with an output rule for each generator that writes
// elsewhere than controller-gen does without one.
func (a *arguments) args() []string {
	var all []string
	for _, g := range a.generators {
		all = append(all, cmp.Or(a.text[g.Name], g.Name))
		switch rule := g.Rule.(type) {
		case genall.OutputToDirectory:
			all = append(all, "output:"+g.Name+":dir="+string(rule))
		case genall.OutputArtifacts:
			if g.Name == ApplyConfigurations {
				continue
			}
			if rule.Config != genall.OutputToDirectory("config/"+g.Name) || rule.Code != "" {
				all = append(all, "output:"+g.Name+":artifacts:config="+string(rule.Config))
			}
			if rule.Code != "" {
				all[len(all)-1] += ",code=" + string(rule.Code)
			}
		default:
			switch rule {
			case genall.OutputToStdout:
				all = append(all, "output:"+g.Name+":stdout")
			case genall.OutputToNothing:
				all = append(all, "output:"+g.Name+":none")
			}
		}
	}
	for _, dir := range a.paths {
		all = append(all, "paths="+dir)
	}
	return all
}
