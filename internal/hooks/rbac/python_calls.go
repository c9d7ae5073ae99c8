package rbac

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// manyIn stands for any number of arguments in a list.
const manyIn = standIn + "S"

var (
	pythonImport  = regexp.MustCompile(`^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([\w \t,]*)|import[ \t]+([\w., \t]+))`)
	pythonProgram = regexp.MustCompile(`^\(\s*["'](?:/[\w/.-]*/)?(?:kubectl|oc)["']\s*[,)]`)
	// Names before what appends to them, and those that are appended with a plus.
	pythonAppended = regexp.MustCompile(`\b([A-Za-z_]\w*)[ \t]*(?:\+|\.(?:append|extend|insert)\b)`)
	pythonSummand  = regexp.MustCompile(`\+[ \t]*([A-Za-z_]\w*)`)
	pythonFormat   = regexp.MustCompile(`%[sdr]|\{[\w.!:]*\}`)
	pythonClients  = []string{"kubernetes", "kubernetes_asyncio", "openshift", "lightkube", "pykube", "kr8s", "kopf"}
)

// python allows what a hook in Python does, as far as it is written out: patch
// operations and calls of kubectl that are literals. Modules among the hooks' files it
// follows.
func (d *deriver) python(s Source) {
	r := &pythonReader{text: string(s.Text), constants: map[string]string{}}
	d.pythonFound(r, s, func(l found) place { return place{s.Path, l.line, l.column} })
}

// pythonText is python for a text in a script of the shell.
func (p *program) pythonText(text string, at place, in *script) {
	r := &pythonReader{text: strings.ReplaceAll(text, hole, standIn), constants: map[string]string{}}
	p.pythonFound(r, in.Source, func(found) place { return at })
}

func (d *deriver) pythonFound(r *pythonReader, s Source, at func(found) place) {
	r.read()
	p := &program{deriver: d}
	in := &script{Source: s}
	operations := 0
	for _, l := range r.found {
		switch v := l.value.(type) {
		case map[string]any:
			if o, is := operationOf(at(l), v); is {
				operations++
				d.operate(o, s.Text)
			}
		case []any:
			p.arguments(v, at(l), in)
		case string:
			p.line(v, at(l), in)
		}
	}
	for _, u := range r.uses {
		name, _ := u.value.(string)
		switch {
		case name == patchPath && operations == 0:
			p.unseen(at(u), in, "no patch operation is written out")
		case slices.Contains(pythonClients, strings.Split(name, ".")[0]):
			p.unseen(at(u), in, "the client of module %s", strings.Split(name, ".")[0])
		case apiServer.MatchString(name):
			p.unseen(at(u), in, "it asks the API server on its own, and which requests it sends is not looked at")
		default:
			for _, module := range d.modules(name) {
				d.start(module, &frame{})
			}
		}
	}
}

// modules are the files among those that hooks share that an import runs: modules, and
// the packages that they are in. The library of hooks in Python is looked at where it is
// called.
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

// imports notes the modules that a line imports.
func (r *pythonReader) imports(line string) {
	line, _, _ = strings.Cut(line, "\n")
	m := pythonImport.FindStringSubmatch(line)
	if m == nil {
		return
	}
	if m[1] != "" {
		for name := range strings.SplitSeq(m[2], ",") { // a module, or something in one
			r.use(m[1] + "." + strings.TrimSpace(name))
		}
		return
	}
	for name := range strings.SplitSeq(m[3], ",") {
		name, _, _ = strings.Cut(strings.TrimSpace(name), " ") // as
		r.use(name)
	}
}

// completed is a text with what formats it, or is appended to it, taken for unknown.
func (r *pythonReader) completed(text string) string {
	if apiServer.MatchString(text) {
		r.uses = append(r.uses, found{text, strings.Count(r.text[:r.at], "\n") + 1, 1})
	}
	switch rest := strings.TrimLeft(r.text[r.at:], " \t"); {
	case strings.HasPrefix(rest, "+"):
		return text + " " + manyIn
	case strings.HasPrefix(rest, "%"), strings.HasPrefix(rest, ".format"):
		return pythonFormat.ReplaceAllString(text, standIn)
	}
	return text
}

// grows reports whether more is appended to the list that begins at a place and ends
// here, or to the name that it is given.
func (r *pythonReader) grows(start int) bool {
	if strings.HasPrefix(strings.TrimLeft(r.text[r.at:], " \t"), "+") {
		return true
	}
	line := r.text[strings.LastIndex(r.text[:start], "\n")+1 : start]
	name, given := strings.CutSuffix(strings.TrimSpace(line), "=")
	return given && r.growing()[strings.TrimSpace(name)]
}

// growing are the names of what more is appended to anywhere.
func (r *pythonReader) growing() map[string]bool {
	if r.grown == nil {
		r.grown = map[string]bool{}
		for _, where := range []*regexp.Regexp{pythonAppended, pythonSummand} {
			for _, m := range where.FindAllStringSubmatch(r.text, -1) {
				r.grown[m[1]] = true
			}
		}
	}
	return r.grown
}

// arguments handles a list that may be the arguments of kubectl, or of a program that
// runs it.
func (p *program) arguments(list []any, at place, in *script) {
	var args []string
	for _, v := range list {
		text, is := v.(string)
		switch {
		case !is:
			text = hole
		case text == manyIn:
			text = many
		}
		args = append(args, strings.ReplaceAll(text, standIn, hole))
		if text != manyIn {
			p.line(text, at, in) // of ["sh", "-c", "kubectl get pods"]
		}
	}
	i := slices.IndexFunc(args, isKubectl)
	switch {
	case i < 0:
		p.starts(args, at, in)
	case i > 0 && !isOneOf(path.Base(args[0]), runs...):
		if isKnown(args[0]) && !strings.Contains(args[0], " ") && !isOneOf(args[0], talks...) {
			p.unseen(at, in, "kubectl is an argument of %s, which may run it or not", args[0])
		}
	case i == len(args)-1: // what follows is put together elsewhere
		p.kubectlAt([]string{args[i], many}, at, in)
	default:
		p.kubectlAt(args[i:], at, in)
	}
}

// starts handles a list that may be a program of the hooks with its arguments.
func (p *program) starts(args []string, at place, in *script) {
	if len(args) == 0 {
		return
	}
	f := &frame{}
	if s, ours := p.script(args[0]); ours {
		p.start(s, f.with(args[1:]))
		return
	}
	name := path.Base(args[0])
	switch {
	case isOneOf(name, shells...):
		if letters, words, runs := shellOptions(args[1:]); runs && isFile(words) && !strings.ContainsAny(letters, "cs") {
			p.file(name, words[0], words[1:], at, in, f)
		}
	case pythonCommand.MatchString(name) || name == hole: // sys.executable
		_, module, words, runs := pythonOptions(args[1:])
		switch {
		case !runs:
		case module != "":
			p.pythonModule(name, module, at, in)
		case name != hole && isFile(words):
			p.file(name, words[0], words[1:], at, in, f)
		}
	}
}

// isFile reports whether the first of some words looks like a script, and not like another
// word in a list of them.
func isFile(words []string) bool {
	return len(words) > 0 && (!isKnown(words[0]) || strings.Contains(words[0], "/") || isOneOf(path.Ext(words[0]), ".sh", ".bash", ".py"))
}

// line handles a text that may be a command line.
func (p *program) line(text string, at place, in *script) {
	if !hasKubectl(text) || !strings.Contains(text, " ") {
		return
	}
	file, err := parseText(text)
	if err != nil {
		if isKubectl(firstWord(strings.Fields(text))) {
			p.unseen(at, in, "%s", strings.ReplaceAll(strings.ReplaceAll(text, manyIn, "..."), standIn, "..."))
		}
		return
	}
	inner := &program{deriver: p.deriver, scope: newScope(), looking: map[string]bool{}}
	syntax.Walk(file, func(n syntax.Node) bool {
		c, is := n.(*syntax.CallExpr)
		if !is || len(c.Args) == 0 {
			return true
		}
		for _, args := range inner.forms(c, &frame{}) {
			if len(args) > 0 && (isKubectl(args[0]) || isOneOf(path.Base(args[0]), runs...)) {
				var list []any
				for _, a := range args {
					list = append(list, a)
				}
				p.arguments(list, at, in)
			}
		}
		return true
	})
}
