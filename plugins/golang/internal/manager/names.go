package manager

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// These symbols identify the variables of the main package, whatever their names are.
var (
	makeLogger = []goedit.Symbol{
		{Path: source.ControllerRuntime, Name: "Log.WithName"}, {Path: source.ControllerRuntime + "/pkg/log", Name: "Log.WithName"},
	}
	makeScheme = []goedit.Symbol{{Path: "k8s.io/apimachinery/pkg/runtime", Name: "NewScheme"}}
)

// afterManager is the place whose names lines have that belong elsewhere.
var afterManager = goedit.AfterMaking(source.MakeManager...)

// setupNames are the names that code for the setup of the manager uses at one place.
type setupNames struct {
	manager string
	logger  string // "" in a function that returns errors and has no logger
	os      string // package os; "" in a function that returns errors
	returns string // the statement that returns an error; "" in a function that does not
	local   string // the package of the code
}

// usualNames are the names that lines in hints use.
func usualNames(local string) setupNames {
	return setupNames{manager: "mgr", logger: "setupLog", os: "os", local: local}
}

// fails returns the statements, on separate lines, with which the code handles the error err. They do
// what the surrounding function does with errors: they return it, or they end the program.
func (n setupNames) fails(message string, keysAndValues ...string) string {
	words := []string{"err", strconv.Quote(message)}
	for _, word := range keysAndValues {
		words = append(words, strconv.Quote(word))
	}
	log := n.logger + ".Error(" + strings.Join(words, ", ")
	switch {
	case n.os != "":
		return log + ")\n" + n.os + ".Exit(1)"
	case n.logger != "":
		return log + ")\n" + n.returns
	}
	return n.returns
}

// setupNames finds the names at the first of the anchors that the file has, and imports what the
// code there needs.
func (m managerPackage) setupNames(f *goedit.File, anchors []goedit.Anchor) (setupNames, error) {
	at := f.ScopeAt(append(slices.Clone(anchors), afterManager)...)
	if at == nil {
		return usualNames(""), nil // Insert reports what is missing
	}
	var n setupNames
	var err error
	n.manager, err = m.variable(at, "the manager", "mgr", nil, at.Assigned(source.MakeManager...), at.Param(source.ManagerType...))
	if err != nil {
		return n, err
	}
	var noLogger error
	n.logger, noLogger = m.variable(at, "a logger", "setupLog", makeLogger, at.ErrorLogger(), at.Assigned(makeLogger...))
	if returns, ok := at.ErrorReturn(); ok {
		n.returns = returns
		return n, nil
	}
	n.os = f.ImportAt("", "os", anchors...)
	if noLogger != nil {
		n.logger = f.ImportAt("ctrl", source.ControllerRuntime, anchors...) + `.Log.WithName("setup")`
	}
	return n, nil
}

// scheme returns the variable with the manager's scheme.
func (m managerPackage) scheme(f *goedit.File, anchors []goedit.Anchor) (string, error) {
	at := f.ScopeAt(append(slices.Clone(anchors), afterManager)...)
	if at == nil {
		return "scheme", nil // Insert reports what is missing
	}
	if name := at.Argument("AddToScheme"); name != "" {
		return name, nil
	}
	return m.variable(at, "the scheme", "scheme", makeScheme, at.Assigned(makeScheme...))
}

// variable returns the first name in found that is not empty. Otherwise, it returns a
// package-level variable of another file that is assigned one of the calls, or else the
// usual name if a variable has it. In the error, what describes the variable's value.
func (m managerPackage) variable(at *goedit.Scope, what, usual string, calls []goedit.Symbol, found ...string) (string, error) {
	for _, name := range found {
		if name != "" {
			return name, nil
		}
	}
	for _, s := range m.files {
		if name := s.Parsed.PackageVar(calls...); name != "" && !at.Knows(name) {
			return name, nil
		}
	}
	if at.Variable(usual) || !at.Knows(usual) && m.declares(usual) {
		return usual, nil
	}
	return "", noVariable{m.name, what}
}

// noVariable means that no variable with a value is visible at the place for new code.
type noVariable struct{ file, what string }

func (e noVariable) Error() string {
	return fmt.Sprintf("%s: found no variable that holds %s", e.file, e.what)
}

func (m managerPackage) declares(name string) bool {
	return slices.ContainsFunc(m.files, func(s source.File) bool { return s.Parsed.Declares()[name] > 0 })
}

// indentLines puts a tab before each line.
func indentLines(lines string) string { return "\t" + strings.ReplaceAll(lines, "\n", "\n\t") }
