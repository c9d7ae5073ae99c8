package request

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/rbac"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// Generators returns the generators by their names in arguments.
func Generators() map[string]Options {
	return map[string]Options{
		ApplyConfigurations: ApplyConfiguration{},
		"crd":               crd.Generator{},
		"object":            deepcopy.Generator{},
		"rbac":              rbac.Generator{},
		"schemapatch":       schemapatcher.Generator{},
		"webhook":           webhook.Generator{},
	}
}

// outputRules returns controller-gen's output rules, by the last part of output:<rule>
// and output:<generator>:<rule>.
func outputRules() map[string]genall.OutputRule {
	return map[string]genall.OutputRule{
		"artifacts": genall.OutputArtifacts{},
		"dir":       genall.OutputToDirectory(""),
		"none":      genall.OutputToNothing,
		"stdout":    genall.OutputToStdout,
	}
}

// optionRegistry returns the definitions of all arguments. controller-gen parses its
// command line as markers without the plus sign. With the same parser, operon accepts
// the same values and reports the same errors.
var optionRegistry = sync.OnceValues(func() (*markers.Registry, error) {
	reg := &markers.Registry{}
	define := func(name string, value any) error { return reg.Define(name, markers.DescribesPackage, value) }
	for name, g := range Generators() {
		if err := define(name, g); err != nil {
			return nil, err
		}
	}
	for rule, r := range outputRules() {
		if err := define("output:"+rule, r); err != nil {
			return nil, err
		}
		for name := range Generators() {
			if err := define("output:"+name+":"+rule, r); err != nil {
				return nil, err
			}
		}
	}
	return reg, genall.RegisterOptionsMarkers(reg)
})

// Generator is a generator with its options and the rule for its output.
type Generator struct {
	Name string
	Gen  Options
	Rule genall.OutputRule
}

// arguments are parsed arguments.
type arguments struct {
	generators []Generator // in order; rule is set by resolve
	rules      map[string]genall.OutputRule
	rule       genall.OutputRule // for generators without a rule of their own; may be nil
	paths      []string
	text       map[string]string // the arguments of the generators as they were written
}

// parse parses arguments in controller-gen's syntax.
func parse(args []string) (*arguments, error) {
	reg, err := optionRegistry()
	if err != nil {
		return nil, err
	}
	a := &arguments{rules: map[string]genall.OutputRule{}, text: map[string]string{}}
	for _, arg := range args {
		raw := "+" + strings.TrimPrefix(arg, "+")
		def := reg.Lookup(raw, markers.DescribesPackage)
		if def == nil {
			return nil, unknownOption(arg)
		}
		value, err := def.Parse(raw)
		if err != nil {
			return nil, fault.Usage(optionsOf(def), "argument %q: %s", arg, complaint(err))
		}
		if _, is := value.(Options); is && a.find(def.Name) >= 0 {
			return nil, twice(def.Name, args)
		}
		if err := a.add(def.Name, value); err != nil {
			return nil, err
		}
		a.text[def.Name] = strings.TrimPrefix(arg, "+")
	}
	return a, nil
}

// complaint returns the text of a marker's parse error without the position in the
// parser's own input.
func complaint(err error) string {
	var list loader.ErrList
	if !errors.As(err, &list) {
		list = loader.ErrList{err}
	}
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i], _, _ = strings.Cut(e.Error(), " (at <input>")
	}
	return strings.Join(texts, "; ")
}

func (a *arguments) add(name string, value any) error {
	switch v := value.(type) {
	case Options:
		a.generators = append(a.generators, Generator{Name: name, Gen: v})
	case genall.InputPaths:
		a.paths = append(a.paths, v...)
	case genall.OutputRule:
		parts := strings.Split(name, ":")
		if len(parts) == 2 {
			a.rule = v
			break
		}
		a.rules[parts[1]] = v
	default:
		return fmt.Errorf("argument %s has the unexpected type %T", name, value)
	}
	return nil
}

// twice returns the error for a generator that two arguments name. If they differ only in the
// value of an option, the shell may have made them from one argument with braces.
func twice(name string, args []string) error {
	hint := "join its options with commas, as in crd:crdVersions=v1,maxDescLen=0"
	options := map[string]bool{}
	for _, arg := range args {
		option := arg[:strings.LastIndex(arg, "=")+1]
		if options[option] && strings.HasPrefix(option, name+":") {
			hint = "give each option once, and quote an argument with braces, which the shell otherwise splits into several"
		}
		options[option] = true
		if strings.HasPrefix(option, "crd:") && strings.Contains(arg, "v1beta1") {
			return fault.Usage(controllertools.HintV1beta1+"; quote an argument with braces, which the shell otherwise splits into several",
				"the generator %s is specified twice", name)
		}
	}
	return fault.Usage(hint, "the generator %s is specified twice", name)
}

func (a *arguments) find(name string) int {
	return slices.IndexFunc(a.generators, func(g Generator) bool { return g.Name == name })
}

// without returns a without generators.
func (a *arguments) without(names map[string]bool) *arguments {
	res := *a
	res.generators = slices.DeleteFunc(slices.Clone(a.generators), func(g Generator) bool { return names[g.Name] })
	return &res
}

// over returns a with the defaults d, as described at [Request.Args].
func (a *arguments) over(d *arguments) *arguments {
	res := &arguments{generators: a.generators, rule: a.rule, paths: a.paths, rules: map[string]genall.OutputRule{}, text: a.text}
	if len(res.generators) == 0 {
		res.generators, res.text = d.generators, d.text
	}
	if len(res.paths) == 0 {
		res.paths = d.paths
	}
	if res.rule == nil {
		res.rule = d.rule
		for name, r := range d.rules {
			if res.find(name) >= 0 {
				res.rules[name] = r
			}
		}
	}
	maps.Copy(res.rules, a.rules)
	return res
}

// resolve sets the output rule of each generator. Without any rule, a generator writes
// configuration to config/<generator> and Go code next to its package.
func (a *arguments) resolve() error {
	for name := range a.rules {
		if a.find(name) < 0 {
			return fault.Usage("add "+name+" to the arguments, or remove its output rule",
				"an output rule names the generator %s, which does not run", name)
		}
	}
	gens := slices.Clone(a.generators)
	for i := range gens {
		g := &gens[i]
		switch {
		case g.Name == ApplyConfigurations:
			g.Rule = genall.OutputArtifacts{} // a marker says where it writes, not a rule
		case a.rules[g.Name] != nil:
			g.Rule = a.rules[g.Name]
		case a.rule != nil:
			g.Rule = a.rule
		default:
			g.Rule = genall.OutputArtifacts{Config: genall.OutputToDirectory("config/" + g.Name)}
		}
	}
	a.generators = gens
	return nil
}

// unknownOption returns the error for an argument that no definition matches.
func unknownOption(arg string) error {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg, "+"), "=")
	parts := strings.Split(name, ":")
	valid := append(slices.Sorted(maps.Keys(Generators())), "paths", "output")
	hint := "valid arguments: " + strings.Join(valid, ", ")
	if near := fault.Nearest(parts[0], valid); near != "" && near != parts[0] {
		hint = "did you mean " + near + "? " + hint
	} else if parts[0] == "output" {
		hint = "output rules: output:<rule> or output:<generator>:<rule>, where rule is " +
			strings.Join(slices.Sorted(maps.Keys(outputRules())), ", ")
	}
	return fault.Usage(hint, "unknown argument %q", arg)
}

// optionsOf returns a hint with the options of an argument.
func optionsOf(def *markers.Definition) string {
	if def.AnonymousField() || def.Empty() {
		return ""
	}
	return "options of " + def.Name + ": " + strings.Join(slices.Sorted(maps.Keys(def.Fields)), ", ") +
		" (controller-tools " + controllertools.Version() + ")"
}
