package rbac

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// PythonRunner runs Python with the text of a program and its standard input, and
// returns what it prints. It returns ErrNoPython if Python is not installed. Any other
// error makes Derive fail.
type PythonRunner func(program string, input []byte) (output []byte, err error)

// ErrNoPython means that there is no Python to read hooks with.
var ErrNoPython = errors.New("python3 is not in PATH")

// readPython lists what may call the API server in Python files. It uses Python's own
// parser, which takes one process for all files.
//
//go:embed read_python.py
var readPython string

// pythonFile is what readPython prints of a file.
type pythonFile struct {
	Facts []pythonFact
	Error string
}

type pythonFact struct {
	Line, Column int
	Operation    map[string]any // a patch operation
	Command      []string       // the arguments of a program
	Text         string         // maybe a command line, a URL or the name of an environment variable
	Module       string         // an import
}

var (
	pythonInHook  = lazyregexp.New(`kubernetes|kubectl|` + patchPath)
	pythonClients = []string{"kubernetes", "kubernetes_asyncio", "openshift", "lightkube", "pykube", "kr8s", "kopf"}
)

// pythonFiles reads all Python files when the first of them is needed.
func (d *deriver) pythonFiles() (map[string]pythonFile, error) {
	if d.pythonRead || d.Python == nil {
		return d.pythonFound, d.pythonErr
	}
	d.pythonRead = true
	texts := map[string]string{}
	for _, s := range d.sources() {
		if isPython(s) {
			texts[s.Path] = string(s.Text)
		}
	}
	input, err := json.Marshal(texts)
	if err == nil {
		var output []byte
		if output, err = d.Python(readPython, input); err == nil {
			if err = json.Unmarshal(output, &d.pythonFound); err != nil {
				err = fmt.Errorf("python3 printed no valid JSON: %w", err)
			}
		}
	}
	d.pythonErr = err
	return d.pythonFound, err
}

// python allows what a Python file does, as far as the file writes it out: patch
// operations and kubectl calls. It follows imports into the hooks' own modules.
func (d *deriver) python(s Source) {
	files, err := d.pythonFiles()
	file, read := files[s.Path]
	switch {
	case err != nil:
		d.find(place{file: s.Path}, RuleUnknown, declareInFile, "%scannot read it: %v", unknownRequests, err)
		return
	case !read:
		d.find(place{file: s.Path}, RuleUnknown, "install python3, or "+declareInFile, "%scannot read it without python3", unknownRequests)
		return
	case file.Error != "":
		d.find(place{file: s.Path}, RuleUnknown, "correct it, or "+declareInFile, "%sit is not valid Python: %s", unknownRequests, file.Error)
		return
	}
	operations := slices.ContainsFunc(file.Facts, func(f pythonFact) bool { return f.Operation != nil })
	for _, f := range file.Facts {
		at := place{s.Path, f.Line, f.Column}
		c := invocation{args: f.Command, in: &script{Source: s, place: &at}, f: &frame{}}
		switch {
		case f.Operation != nil:
			if o, is := operationOf(at, f.Operation); is {
				d.operate(o, s.Text)
			}
		case f.Command != nil:
			d.pythonCommand(c)
		case f.Text == patchPath && !operations:
			d.reportUnknown(at, c.in, "the source does not show the patch operations")
		case f.Text != "":
			d.pythonText(f.Text, c)
		case f.Module != "":
			d.pythonImport(f.Module, c)
		}
	}
}

// pythonCommand follows a list of texts that may be a program with its arguments.
func (d *deriver) pythonCommand(c invocation) {
	p := newProgram(d)
	p.prose = true
	if len(c.args) == 0 {
		return
	}
	name := path.Base(c.args[0])
	if name == unknown && len(c.args) > 1 && c.args[1] == "-m" { // sys.executable
		name, c.args[0] = "python", "python"
	}
	_, isOwn := d.ownFile(c.args[0])
	switch {
	case isKubectl(name) && len(c.args) == 1: // other code appends the arguments
		p.call(c.with(append(c.args, wildcard)))
	case isKubectl(name) || isOwn || isOneOf(name, wrappers...) || isInterpreter(name) && runsFile(c.args[1:]):
		p.call(c)
	case slices.ContainsFunc(c.args, isKubectl) && isKnown(name) && !strings.Contains(name, " ") && !isOneOf(name, printers...):
		p.reportUnknown(c.at(), c.in, "kubectl is an argument of %s, which may run it", name)
	}
}

// runsFile reports whether some words look like the arguments of an interpreter, and
// not like a list of programs.
func runsFile(words []string) bool {
	return len(words) > 0 && (!isKnown(words[0]) || strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "/") ||
		isOneOf(path.Ext(words[0]), ".sh", ".bash", ".py"))
}

// pythonText follows a text that may be a command line.
func (d *deriver) pythonText(text string, c invocation) {
	if apiServer().MatchString(text) {
		d.reportUnknown(c.at(), c.in, "it calls the API server without kubectl")
	}
	if !hasKubectl(text) || !strings.Contains(text, " ") {
		return
	}
	if err := newProgram(d).commandLine(text, c.at(), c.in.Source, true); err != nil && isKubectl(strings.Fields(text)[0]) {
		d.reportUnknown(c.at(), c.in, "%s", shown(text))
	}
}

// pythonImport follows an import into the hooks' own modules.
func (d *deriver) pythonImport(module string, c invocation) {
	if root, _, _ := strings.Cut(module, "."); slices.Contains(pythonClients, root) {
		d.reportUnknown(c.at(), c.in, "it uses the Kubernetes client %s", root)
		return
	}
	for _, s := range d.modules(module) {
		d.start(s, &frame{})
	}
}

// modules returns the hooks' own files that an import runs: modules and the packages
// that contain them. The library of Python hooks is excluded: its calls count where
// hooks call it.
func (d *deriver) modules(name string) (all []Source) {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if part == "" || part == "operon" {
			continue
		}
		for _, s := range d.Library {
			folder, file := path.Split(s.Path)
			inside := part != "__main__" || i > 0 && path.Base(folder) == parts[i-1]
			if file == part+".py" && inside || file == "__init__.py" && path.Base(folder) == part {
				all = append(all, s)
			}
		}
	}
	return all
}
