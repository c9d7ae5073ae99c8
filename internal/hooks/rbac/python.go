package rbac

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
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
	Heads        []int          // see place
	Operation    map[string]any // a patch operation
	Command      []string       // the arguments of a program
	Text         string         // maybe a command line, a URL or the name of an environment variable
	Module       string         // an import
}

var pythonClients = []string{"kubernetes", "kubernetes_asyncio", "openshift", "lightkube", "pykube", "kr8s", "kopf"}

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
		d.find(place{file: s.Path}, ruleUnknown, declareInFile, "%scannot read it: %v", unknownRequests, err)
		return
	case !read:
		d.find(place{file: s.Path}, ruleUnknown, "install python3, or "+declareInFile, "%scannot read it without python3", unknownRequests)
		return
	case file.Error != "":
		d.find(place{file: s.Path}, ruleUnknown, "correct it, or "+declareInFile, "%s%s", unknownRequests, file.Error)
		return
	}
	operations := slices.ContainsFunc(file.Facts, func(f pythonFact) bool { return f.Operation != nil })
	kubeconfig := slices.ContainsFunc(file.Facts, func(f pythonFact) bool { return f.Text == kubeconfigVariable })
	for _, f := range file.Facts {
		at := place{s.Path, f.Line, f.Column, f.Heads}
		p := newProgram(d)
		p.prose = true
		if kubeconfig {
			p.record(kubeconfigVariable, assignment{kind: toUnknown})
		}
		c := invocation{&scope{program: p, script: &script{Source: s, place: &at}, positional: anyArguments}, nil, f.Command}
		switch {
		case f.Operation != nil:
			if o, is := operationOf(at, f.Operation); is {
				d.operate(o, s)
			}
		case len(f.Command) > 0:
			c.pythonCommand()
		case f.Text == patchPath && !operations:
			c.reportUnknown("the source does not show the patch operations")
		case f.Text != "":
			c.pythonText(f.Text)
		case f.Module != "":
			c.pythonImport(f.Module)
		}
	}
}

// pythonCommand follows a list of texts that may be a program with its arguments.
func (c invocation) pythonCommand() {
	name := path.Base(c.args[0])
	_, isOwn := c.ownFile(c.args[0])
	switch {
	case isKubectl(name) && len(c.args) == 1: // other code appends the arguments
		c.args = append(c.args, wildcard)
		c.kubectl()
	case c.args[0] == unknown && len(c.args) > 1 && fileLike().MatchString(c.args[1]) && isKnown(c.args[1]): // sys.executable
		if _, isOwn := c.ownFile(c.args[1]); isOwn || c.args[1] == "-m" {
			c.callInterpreter("python")
		}
	case isKubectl(name) || isOwn || interpreter().MatchString(name) || isOneOf(name, wrappers...) && slices.ContainsFunc(c.args, c.runsProgram):
		c.call()
	case slices.ContainsFunc(c.args, isKubectl) && isKnown(name) && !strings.Contains(name, " ") && !isOneOf(name, printers...):
		c.callOther(name)
	}
}

// runsProgram reports whether a word is kubectl, or names a file of the hooks.
func (d *deriver) runsProgram(word string) bool {
	_, isOwn := d.ownFile(word)
	return isOwn || isKubectl(word)
}

// pythonText follows a text that may be a command line.
func (c invocation) pythonText(text string) {
	if apiServer().MatchString(text) {
		c.reportUnknown("it calls the API server without kubectl")
	}
	if words := strings.Fields(text); len(words) < 2 || !hasKubectl(text) && !c.runsOwnFile(text) {
		return
	}
	if file, err := parseShell(text, ""); err == nil {
		c.declare(file, c.script, nil)
		c.walk(file)
	} else if c.runsProgram(strings.Fields(text)[0]) {
		c.reportUnknown("%s", shown(text))
	}
}

// pythonImport follows an import into the hooks' own modules.
func (c invocation) pythonImport(module string) {
	if root, _, _ := strings.Cut(module, "."); slices.Contains(pythonClients, root) {
		c.reportUnknown("it uses the Kubernetes client %s", root)
		return
	}
	for _, s := range c.modules(module) {
		c.start(s, anyArguments, 0)
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
