// Package calls finds the controller-gen calls with which a project generates: in its
// Makefile, in the scripts and Makefiles that those recipes run, in scripts below hack, in a
// Taskfile, in a justfile, and in go:generate comments. It executes nothing. What only make or
// the shell can compute makes a call unclear.
//
// No library does this for Makefiles: those that parse them neither expand variables nor read
// recipes. Package mvdan.cc/sh parses and expands the shell.
package calls

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Root is the absolute path that stands for the root of the project in arguments.
const Root = "/operon-project-root"

// Unknown stands for what is unknown in an argument.
const Unknown = "<?>"

// Call is a controller-gen call.
type Call struct {
	File string // of the line, relative to the root
	Line int    // from 1
	Dir  string // where the call runs: absolute, below Root
	// Args are generators, paths and output rules. In an unclear call, some contain Unknown.
	Args      []string
	Unclear   string // what only make or the shell knows; "" if the call is understood
	ClockYear bool   // the year of headers comes from the clock; Args do not have it
	// After are the commands that follow in the same recipe or script, and change files.
	After []Step
}

// At returns the place of the call.
func (c Call) At() string { return fmt.Sprintf("%s:%d", c.File, c.Line) }

// runs reports whether a call has a generator.
func (c Call) runs(generator string) bool {
	return slices.ContainsFunc(c.Args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, ":")
		return name == generator
	})
}

// Pin is the version of controller-tools that a project installs.
type Pin struct {
	Version string // vX.Y.Z, or "" if there is none
	File    string
	Line    int
}

// Project reads files of a project, by their paths relative to the root.
type Project interface {
	Read(name string) ([]byte, error)
	// Below returns the paths of all files below a folder.
	Below(dir string) ([]string, error)
	// Containing returns the paths of the files with an extension that contain a text, sorted.
	Containing(extension, text string) ([]string, error)
}

// Find returns the calls of a project without duplicates, and the version of controller-tools
// that it pins.
//
// Go files are searched for go:generate only if the other sources have no call for Go code, or
// none for manifests: reading them takes longer than all the rest.
func Find(p Project) ([]Call, Pin) {
	f := newFinder(p)
	f.goMod(f.find())
	return f.calls, f.pin
}

// FindPin returns the version of controller-tools that the Makefile or go.mod pins.
func FindPin(p Project) Pin {
	f := newFinder(p)
	f.makefile(Root)
	f.goMod(nil)
	return f.pin
}

// finder collects calls.
type finder struct {
	project  Project
	calls    []Call
	pin      Pin
	ran      map[string]bool // the Makefiles and scripts that were read
	unknowns []string        // descriptions of what only make or the shell knows
	repeated bool            // calls with the same arguments at several places are all collected
}

func newFinder(p Project) *finder { return &finder{project: p, ran: map[string]bool{}} }

// find finds the calls, and returns the files below hack.
func (f *finder) find() (tools []string) {
	f.makefile(Root)
	f.taskfile()
	f.justfile()
	tools, _ = f.project.Below("hack") // an error means that it is no folder
	f.scripts(tools)
	if !f.runs("object") || !f.runs("crd") {
		f.goGenerate()
	}
	return tools
}

// limit is the number of steps of a script, of words in a command, and of nested expansions
// that are followed. It only stops files that are made to be endless.
const limit = 1000

// runs reports whether a call runs a generator.
func (f *finder) runs(generator string) bool {
	return slices.ContainsFunc(f.calls, func(c Call) bool { return c.runs(generator) })
}

// unknown returns a text that stands for an unknown value in a word. The same text with a
// dollar sign and braces stands for it in a command of the shell.
func (f *finder) unknown(what string) string {
	i := slices.Index(f.unknowns, what)
	if i < 0 {
		i = len(f.unknowns)
		f.unknowns = append(f.unknowns, what)
	}
	return fmt.Sprintf("%s%d_", unknownName, i)
}

// unknownName starts the names of variables for unknown values.
const unknownName = "operon_unknown_"

// reason describes the first unknown value in a word, or "".
func (f *finder) reason(word string) string {
	_, rest, found := strings.Cut(word, unknownName)
	if !found {
		return ""
	}
	id, _, _ := strings.Cut(rest, "_")
	for i, what := range f.unknowns {
		if fmt.Sprint(i) == id {
			return what
		}
	}
	return "what only the shell knows"
}

// add adds a call, unless it is known. Unclear calls are known by their line.
func (f *finder) add(call Call) *Call {
	for i, c := range f.calls {
		same := c.Unclear == "" && call.Unclear == "" && c.Dir == call.Dir && slices.Equal(c.Args, call.Args) && c.ClockYear == call.ClockYear
		same = same && (!f.repeated || c.At() == call.At())
		if same || c.At() == call.At() && c.Unclear != "" && call.Unclear != "" {
			return &f.calls[i]
		}
	}
	f.calls = append(f.calls, call)
	return &f.calls[len(f.calls)-1]
}

// read returns the text of a file by its absolute path below Root.
func (f *finder) read(name string) (text string, ok bool) {
	rel, ok := Rel(name)
	if !ok {
		return "", false
	}
	content, err := f.project.Read(rel)
	return strings.ReplaceAll(string(content), "\r\n", "\n"), err == nil
}

// Rel returns a path below Root relative to it. ok is false for other paths.
func Rel(name string) (rel string, ok bool) {
	name = path.Clean(name)
	if name == Root {
		return ".", true
	}
	return strings.CutPrefix(name, Root+"/")
}

// rel is Rel for paths that are below Root.
func rel(name string) string {
	r, _ := Rel(name)
	return r
}
