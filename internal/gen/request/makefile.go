package request

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/makefile"
	"github.com/operon-dev/operon/internal/scaffold"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/yaml"
)

// Makefile has the calls of controller-gen in a project's Makefile.
type Makefile struct {
	Jobs    []*Job          // one for each call
	Unclear []makefile.Call // the calls whose arguments are unknown

	args []string // of all jobs; of the default job if there is none
	some bool     // PROJECT has settings of plugins
}

// FromMakefile returns the calls in the project's Makefile. ok is false if they do not matter:
// the request or PROJECT has arguments, or the calls have the default ones.
func FromMakefile(r Request, p *scaffold.Plan) (m *Makefile, ok bool) {
	if len(r.Args)+len(r.Paths) > 0 || r.HeaderFile != "" || r.Year != "" {
		return nil, false
	}
	m = &Makefile{}
	if r.Project != nil {
		if args, err := configured(r.Project.Plugins); err != nil || len(args) > 0 {
			return nil, false
		}
		m.some = len(r.Project.Plugins) > 0
	}
	calls := makefile.Calls(p.Read)
	if len(calls) == 0 {
		return nil, false
	}
	defaults, args, err := defaultArguments(r, p)
	if err != nil {
		return nil, false // Resolve reports the error
	}
	year := yearIn(defaults)
	var understood []*arguments
	for _, call := range calls {
		given := relevant(call.Args)
		a, known := argumentsOf(given, year)
		switch {
		case !known:
			m.Unclear = append(m.Unclear, call)
		case len(a.generators) > 0:
			understood = append(understood, a)
			m.args = addArgs(m.args, given, a, year)
		}
	}
	if len(m.Unclear) == 0 && sameAs(understood, defaults, r.Only) {
		return nil, false
	}
	for _, a := range understood {
		j := &Job{Paths: a.paths, Store: r.Store}
		for _, g := range a.generators {
			if len(r.Only) == 0 || slices.Contains(r.Only, g.Name) {
				j.Generators = append(j.Generators, g)
			}
		}
		if len(j.Generators) > 0 {
			m.Jobs = append(m.Jobs, j)
		}
	}
	if len(m.args) == 0 {
		m.args = args
	}
	return m, true
}

func defaultArguments(r Request, p *scaffold.Plan) (*arguments, []string, error) {
	args, err := defaultArgs(r.Project, p, r.ThisYear)
	if err != nil {
		return nil, nil, err
	}
	a, err := parse(args)
	if err == nil {
		err = a.resolve()
	}
	return a, args, err
}

// relevant returns the arguments of a call without those that do not matter to operon.
func relevant(given []string) []string {
	var args []string
	for _, arg := range given {
		if name, _, _ := strings.Cut(strings.TrimPrefix(arg, "output:"), ":"); name == "applyconfiguration" {
			continue // operon does not run this generator
		}
		// kubebuilder v3 wrote options that later versions of controller-gen do not have.
		for _, old := range []string{"trivialVersions=true", "trivialVersions=false", "preserveUnknownFields=false"} {
			arg = strings.TrimRight(strings.Replace(strings.Replace(arg, old+",", "", 1), old, "", 1), ",:")
		}
		args = append(args, arg)
	}
	return args
}

// argumentsOf parses the arguments of a call. ok is false if controller-gen would fail with
// them, or if they are unknown.
func argumentsOf(args []string, year string) (a *arguments, ok bool) {
	a, err := parse(args)
	if err != nil || len(a.paths) == 0 || a.resolve() != nil {
		return nil, false
	}
	a.generators = slices.DeleteFunc(a.generators, func(g Generator) bool {
		return g.Rule == genall.OutputToNothing || g.Rule == genall.OutputToStdout
	})
	for i, g := range a.generators {
		a.generators[i] = normal(g, year)
	}
	return a, true
}

// normal returns a generator with clean paths, and with the year if its header has none.
func normal(g Generator, year string) Generator {
	g.Gen = editHeader(g.Gen, func(file, own *string) {
		if *file == "" {
			return
		}
		if *file = path.Clean(*file); *own == "" {
			*own = year
		}
	})
	switch rule := g.Rule.(type) {
	case genall.OutputToDirectory:
		g.Rule = genall.OutputToDirectory(path.Clean(string(rule)))
	case genall.OutputArtifacts:
		rule.Config = genall.OutputToDirectory(path.Clean(string(rule.Config)))
		g.Rule = rule
	}
	return g
}

// yearIn returns the year of the default header.
func yearIn(defaults *arguments) (year string) {
	if i := defaults.find("object"); i >= 0 {
		editHeader(defaults.generators[i].Gen, func(_, own *string) { year = *own })
	}
	return year
}

// sameAs reports whether the calls run exactly the default generators, or the selected ones of
// them, with the default options.
func sameAs(calls []*arguments, defaults *arguments, names []string) bool {
	found := map[string]bool{}
	for _, a := range calls {
		for _, g := range a.generators {
			i := defaults.find(g.Name)
			if i < 0 || !slices.Equal(a.paths, defaults.paths) || !reflect.DeepEqual(g, normal(defaults.generators[i], "")) {
				return false
			}
			found[g.Name] = true
		}
	}
	return !slices.ContainsFunc(defaults.generators, func(g Generator) bool {
		return !found[g.Name] && (len(names) == 0 || slices.Contains(names, g.Name))
	})
}

// addArgs adds the arguments of a call to those of others. The first call of a generator
// counts: operon runs each generator once.
func addArgs(all, given []string, a *arguments, year string) []string {
	for _, arg := range given {
		name, _, _ := strings.Cut(arg, ":")
		i := a.find(name)
		if i < 0 || slices.ContainsFunc(all, func(other string) bool { return other == name || strings.HasPrefix(other, name+":") }) {
			continue
		}
		g := a.generators[i]
		if year != "" && HeaderOf(g.Gen) != "" && !strings.Contains(arg, "year=") {
			arg += ",year=" + year
		}
		all = append(all, arg)
		switch rule := g.Rule.(type) {
		case genall.OutputToDirectory:
			all = append(all, "output:"+name+":dir="+string(rule))
		case genall.OutputArtifacts:
			if rule.Config != genall.OutputToDirectory("config/"+name) || rule.Code != "" {
				all = append(all, "output:"+name+":artifacts:config="+string(rule.Config))
			}
			if rule.Code != "" {
				all[len(all)-1] += ",code=" + string(rule.Code)
			}
		}
	}
	for _, dir := range a.paths {
		if arg := "paths=" + dir; !slices.Contains(all, arg) {
			all = append(all, arg)
		}
	}
	return all
}

// Error returns the error for files that operon would generate with other content than the
// calls in the Makefile.
func (m *Makefile) Error(files []string) error {
	slices.Sort(files)
	what := strings.Join(files[:min(len(files), 3)], ", ")
	if more := len(files) - 3; more > 0 {
		what += ", ..."
	}
	where, indent, args := "PROJECT", "", map[string]any{ConfigKey: map[string]any{"args": m.args}}
	if m.some {
		where, indent = "plugins in PROJECT", "  "
	} else {
		args = map[string]any{"plugins": args}
	}
	lines, err := yaml.Marshal(args)
	if err != nil {
		return err
	}
	text := indent + strings.ReplaceAll(strings.TrimRight(string(lines), "\n"), "\n", "\n"+indent)
	if len(m.Unclear) > 0 {
		c := m.Unclear[0]
		return fault.Usage("write the arguments to "+where+", such as\n"+text,
			"%s:%d: operon does not understand this call of controller-gen, and would generate other content for %s", c.File, c.Line, what)
	}
	hint := "add the arguments to " + where + ":\n" + text
	if what == "" {
		return fault.Usage(hint, "the Makefile runs controller-gen with arguments that PROJECT does not have, and without which it fails")
	}
	return fault.Usage(hint, "the Makefile runs controller-gen with arguments that PROJECT does not have, and without which these files would differ: %s", what)
}
