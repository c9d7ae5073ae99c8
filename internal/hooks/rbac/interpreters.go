package rbac

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ownFile returns the file of the hooks that a word with a slash names.
func (d *deriver) ownFile(word string) (Source, bool) {
	known := word[strings.LastIndex(word, unknown)+1:]
	if !strings.Contains(word, "/") || path.Base(known) == "." || strings.HasSuffix(known, "/") {
		return Source{}, false
	}
	return d.fileNamed(known)
}

// startFile follows a file that an interpreter runs.
func (p *program) startFile(by, name string, args []string, c invocation) {
	known := name[strings.LastIndex(name, unknown)+1:]
	if s, found := p.fileNamed(known); found && known != "" {
		p.start(s, c.f.call(values{args}))
		return
	}
	p.reportUnknown(c.at(), c.in, "%s runs %s, which is not among the hooks' files", by, shown(name))
}

// callShell follows what a shell runs: a text behind -c, or a file.
func (p *program) callShell(name string, c invocation) {
	letters, words, runs := shellArguments(c.args[1:])
	switch {
	case !runs:
	case strings.Contains(letters, "c"):
		if len(words) > 0 {
			p.callText(name, words[0], c)
		}
	case len(words) > 0 && !strings.Contains(letters, "s"):
		p.startFile(name, words[0], words[1:], c)
	default:
		if texts, known := p.input(c); !known || hasKubectl(strings.Join(texts, "\n")) {
			p.reportUnknown(c.at(), c.in, "%s runs its input", name)
		}
	}
}

// callText follows a text that a shell runs, unless it has parameters: their values are
// those of another process.
func (p *program) callText(by, text string, c invocation) {
	if !strings.HasPrefix(text, unknown) && !strings.Contains(text, "$") && p.commandLine(text, c.at(), c.in.Source, p.prose) == nil {
		return
	}
	if hasKubectl(text) || c.node != nil && p.mentions(c.node, hasKubectl) {
		p.reportUnknown(c.at(), c.in, "%s runs %s", by, shown(text))
	}
}

// shellArguments returns the letters of a shell's options and the words behind them. A
// shell that prints its version runs nothing.
func shellArguments(args []string) (letters string, words []string, runs bool) {
	for len(args) > 0 {
		option, values := args[0], 0
		switch {
		case option == "-" || option == "--":
			return letters, args[1:], true
		case option == "--help" || option == "--version":
			return "", nil, false
		case option == "--rcfile" || option == "--init-file":
			values = 1
		case strings.HasPrefix(option, "--"):
		case strings.HasPrefix(option, "-") || strings.HasPrefix(option, "+"):
			letters += option[1:]
			values = strings.Count(option, "o") + strings.Count(option, "O")
		default:
			return letters, args, true
		}
		args = args[min(1+values, len(args)):]
	}
	return letters, nil, true
}

// callPython follows what Python runs: a file or a module.
func (p *program) callPython(name string, c invocation) {
	text, module, words, runs := pythonArguments(c.args[1:])
	switch {
	case !runs:
		return
	case module != "":
		p.startModule(name, module, c)
		return
	case text == "" && len(words) > 0 && words[0] != "-":
		p.startFile(name, words[0], words[1:], c)
		return
	case text == "":
		texts, known := p.input(c)
		if text = strings.Join(texts, "\n"); !known {
			p.reportUnknown(c.at(), c.in, "%s runs its input", name)
		}
	}
	if pythonInHook().MatchString(text) {
		p.reportUnknown(c.at(), c.in, "Python code in a shell script is not read")
	}
}

// pythonArguments returns the text behind -c, the module behind -m, or the words behind
// the options. Python that prints its version runs nothing.
func pythonArguments(args []string) (text, module string, words []string, runs bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		option := args[0]
		args = args[1:]
		i := strings.IndexAny(option, "cmWXVh?")
		switch {
		case option == "--":
			return "", "", args, true
		case option == "--check-hash-based-pycs":
			args = args[min(1, len(args)):]
			continue
		case strings.HasPrefix(option, "--"):
			return "", "", nil, false
		case i < 0:
			continue
		}
		value := option[i+1:]
		if value == "" && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch option[i] {
		case 'c':
			return value + "\n", "", nil, true
		case 'm':
			return "", value, args, value != ""
		case 'V', 'h', '?':
			return "", "", nil, false
		}
	}
	return "", "", args, true
}

// standardModules are modules of Python's own, and pip, that people run. They call no
// API server.
var standardModules = strings.Fields(`ast base64 calendar compileall dis ensurepip gzip http json pip platform py_compile
	site sysconfig tabnanny tarfile timeit tokenize uuid venv zipapp zipfile`)

// startModule follows a module that Python runs, with the packages that contain it.
func (p *program) startModule(by, name string, c invocation) {
	root, _, _ := strings.Cut(name, ".")
	files := slices.Concat(p.modules(name), p.modules(name+".__main__"))
	for _, s := range files {
		p.start(s, c.f.call(nil))
	}
	switch {
	case len(files) > 0 || isOneOf(root, standardModules...):
	case isOneOf(root, pythonClients...):
		p.reportUnknown(c.at(), c.in, "it uses the Kubernetes client %s", root)
	default:
		p.reportUnknown(c.at(), c.in, "%s runs %s, which is not among the hooks' files", by, shown(name))
	}
}

// callEvaluator reports a text with kubectl that a program runs, and enters the
// functions in it.
func (p *program) callEvaluator(name string, c invocation) {
	texts, _ := p.input(c)
	texts = append(texts, c.args[1:]...)
	if hasKubectl(strings.Join(texts, "\n")) || name == "eval" && c.node != nil && p.mentions(c.node, hasKubectl) {
		p.reportUnknown(c.at(), c.in, "%s runs a text with kubectl", name)
	}
	p.enterMentioned(c, texts)
}

// callClient reports a program that calls the API server on its own.
func (p *program) callClient(name string, c invocation) {
	word := ""
	if i := slices.IndexFunc(c.args[1:], func(a string) bool { return !strings.HasPrefix(a, "-") }); i >= 0 {
		word = c.args[1:][i]
	}
	switch {
	case isOneOf(name, web...):
		if !apiServer().MatchString(strings.Join(c.args[1:], " ")) && (c.node == nil || !p.mentions(c.node, apiServer().MatchString)) {
			return
		}
		word = ""
	case word == "" || word == "version" || name == "helm" && isOneOf(word, offline...):
		return
	}
	p.reportUnknown(c.at(), c.in, "%s calls the API server", strings.TrimSpace(name+" "+shown(word)))
}

// mentions reports whether a text below a node passes a test, or one in the values of
// the variables there. The name of a variable counts, too, with its $.
func (p *program) mentions(n syntax.Node, test func(string) bool) bool {
	seen := map[string]bool{}
	found := false
	var visit func(n syntax.Node) bool
	visit = func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Lit:
			found = found || test(x.Value)
		case *syntax.SglQuoted:
			found = found || test(x.Value)
		case *syntax.ParamExp:
			if x.Param == nil || seen[x.Param.Value] {
				break
			}
			seen[x.Param.Value] = true
			found = found || test("$"+x.Param.Value)
			for _, a := range p.variables[x.Param.Value] {
				for _, word := range a.words {
					syntax.Walk(word, visit)
				}
			}
		}
		return !found
	}
	syntax.Walk(n, visit)
	return found
}

// reportUnknown reports requests that cannot be derived, unless a marker right above
// declares them.
func (d *deriver) reportUnknown(at place, in *script, format string, args ...any) {
	if !isDeclared(in.Text, at.line) {
		d.find(at, RuleUnknown, "declare them with a marker right above: "+exampleMarker, unknownRequests+format, args...)
	}
}
