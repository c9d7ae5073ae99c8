package rbac

import (
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// ownFile returns the file of the hooks that a word with a slash names.
func (d *deriver) ownFile(word string) (Source, bool) {
	if !strings.Contains(word, "/") {
		return Source{}, false
	}
	return d.fileNamed(word)
}

// mayCallAPI reports whether code may call the API server, or run a file that does.
func (d *deriver) mayCallAPI(code string) bool {
	return codeForAPI().MatchString(code) || d.runsOwnFile(code)
}

// runsOwnFile reports whether code names a file of the hooks, or imports one.
func (d *deriver) runsOwnFile(code string) bool {
	imports := strings.Contains(code, "import")
	for word := range wordsIn(strings.ReplaceAll(code, ",", " ")) {
		if _, isOwn := d.fileNamed(word); isOwn || imports && len(d.modules(word)) > 0 {
			return true
		}
	}
	return false
}

// standardModules are modules of Python that hooks run and that do not call the API server.
var standardModules = strings.Fields("base64 calendar compileall ensurepip gzip http json pip py_compile site tarfile uuid venv zipfile")

// runModule follows a module of the hooks. It reports false if a module is neither of the
// hooks nor of Python.
func (c invocation) runModule(name string) bool {
	own := c.modules(name + ".__main__")
	for _, s := range own {
		c.start(s, anyArguments, c.depth+1)
	}
	root, _, _ := strings.Cut(name, ".")
	return len(own) > 0 || isOneOf(root, standardModules...)
}

// fileLike is a word that an interpreter may run.
var fileLike = lazyregexp.New(`^-|/|\.(?:sh|bash|py)$|` + unknown)

// callInterpreter follows a file that an interpreter runs, and reports other code that
// may call the API server.
func (c invocation) callInterpreter(name string) {
	words, inline, module := c.args[1:], false, false
	for len(words) > 0 && strings.HasPrefix(words[0], "-") && !module {
		isShort := !strings.HasPrefix(words[0], "--")
		inline = inline || isShort && strings.HasSuffix(words[0], "c")
		module = isShort && strings.HasSuffix(words[0], "m") && strings.HasPrefix(name, "python")
		words = words[1:]
	}
	texts, known := words, inline
	switch {
	case len(c.args) == 2 && isOneOf(c.args[1], "--version", "-V"):
		return
	case inline && c.prose && !strings.HasPrefix(name, "python") && len(words) > 0 && strings.Contains(words[0], " "):
		return // pythonText follows the text
	case module && len(words) > 0 && c.runModule(words[0]):
		return
	case len(words) > 0 && !inline:
		if own, found := c.fileNamed(words[0]); found {
			c.start(own, words[1:], c.depth+1)
		} else {
			c.reportUnknown("%s runs %s, which operon does not analyze", name, shown(words[0]))
		}
		return
	case !inline && c.input != nil:
		texts, known = c.input()
	}
	text := strings.Join(texts, "\n")
	if !known || !isKnown(text) || c.mayCallAPI(text) || c.mentions(c.mayCallAPI) {
		c.reportUnknown("%s runs code that operon does not analyze", name)
	}
}
