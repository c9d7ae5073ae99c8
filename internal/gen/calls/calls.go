// Package calls finds the controller-gen calls with which a project generates: in its Makefile, in scripts below hack,
// in a Taskfile, in a justfile, and in go:generate comments. It reads literal calls, with variables that are set once
// to a text. Everything else makes a call unclear: only make or a shell knows what it is.
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
	f.makefiles()
	f.goMod(nil)
	return f.pin
}

// Printed returns the calls in the commands that make -n prints.
func Printed(text string) []Call {
	f := newFinder(nil)
	for _, c := range joined("make -n", text) {
		if strings.Contains(c.text, program) {
			f.run(c, Root, nil)
		}
	}
	return f.calls
}

// finder collects calls.
type finder struct {
	project  Project
	calls    []Call
	pin      Pin
	opened   map[string]bool // the files that were read
	unknowns []string        // descriptions of what only make or the shell knows
	repeated bool            // calls with the same arguments at several places are all collected
}

func newFinder(p Project) *finder { return &finder{project: p, opened: map[string]bool{}} }

// find finds the calls, and returns the files below hack.
func (f *finder) find() (tools []string) {
	f.makefiles()
	f.taskfile()
	f.justfile()
	tools, _ = f.project.Below("hack") // an error means that it is no folder
	for _, name := range tools {
		if path.Ext(name) == ".sh" {
			f.script(name)
		}
	}
	runs := func(generator string) bool {
		return slices.ContainsFunc(f.calls, func(c Call) bool { return c.runs(generator) })
	}
	if !runs("object") || !runs("crd") {
		f.goGenerate()
	}
	return tools
}

// command is a text that may be one of a shell.
type command struct {
	file string // relative to the root
	line int
	text string
}

// open returns the lines of a file, and records the version of controller-tools that they name. ok is false for a
// file that cannot be read, or was read before.
func (f *finder) open(name string) (lines []command, ok bool) {
	content, err := f.project.Read(name)
	if err != nil || f.opened[name] {
		return nil, false
	}
	f.opened[name] = true
	lines = joined(name, string(content))
	for _, c := range lines {
		f.pinned(c)
	}
	return lines, true
}

// joined returns the lines of a text together with those that continue them.
func joined(file, text string) (lines []command) {
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(all); i++ {
		c := command{file, i + 1, all[i]}
		for strings.HasSuffix(c.text, `\`) && i+1 < len(all) {
			i++
			c.text = strings.TrimSuffix(c.text, `\`) + " " + strings.TrimSpace(all[i])
		}
		lines = append(lines, c)
	}
	return lines
}

// add adds a call, unless it is known. Unclear calls are known by their line.
func (f *finder) add(call Call) {
	if !slices.ContainsFunc(f.calls, func(c Call) bool {
		same := c.Unclear == "" && call.Unclear == "" && c.Dir == call.Dir && slices.Equal(c.Args, call.Args) && c.ClockYear == call.ClockYear
		return same && (!f.repeated || c.At() == call.At()) || c.At() == call.At() && c.Unclear != "" && call.Unclear != ""
	}) {
		f.calls = append(f.calls, call)
	}
}

// Rel returns a path below Root relative to it. ok is false for other paths.
func Rel(name string) (rel string, ok bool) {
	name = path.Clean(name)
	if name == Root {
		return ".", true
	}
	return strings.CutPrefix(name, Root+"/")
}
