package rbac

import (
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var (
	shells = []string{"bash", "sh", "dash", "ash", "ksh", "zsh"}
	// clients ask the API server on their own, with requests that are not looked at.
	clients = []string{"helm", "helmfile", "flux", "kapp", "istioctl", "cmctl", "velero", "tkn", "virtctl", "skaffold", "kubeadm", "stern", "linkerd", "cilium", "kubeseal"}
	// offline are words of helm's that ask nobody.
	offline = []string{"template", "lint", "package", "show", "version", "completion", "env", "create", "dependency", "dep", "pull", "push", "repo", "search", "verify"}
	// web are programs that ask any server.
	web = []string{"curl", "wget", "http", "https", "xh"}
	// longOptions are bash's, which takes them with one dash, too.
	longOptions = strings.Fields(`debug debugger dump-po-strings dump-strings help init-file login noediting noprofile norc posix
		pretty-print rcfile restricted verbose version wordexp`)
	// readers have programs of their own as arguments, which may start others.
	readers = []string{"awk", "gawk", "mawk", "perl", "ruby", "node", "su", "ssh", "docker", "nsenter", "chroot", "script", "expect", "lua"}

	pythonCommand = regexp.MustCompile(`^python[0-9.]*$`)
	apiServer     = regexp.MustCompile(`kubernetes\.(?:default|svc)|\$?KUBERNETES_(?:SERVICE|PORT)|serviceaccount/(?:token|ca\.crt)|/api/v1/(?:namespaces|nodes|pods|secrets|configmaps|services|events|watch)\b|/apis/[a-z0-9.-]+/v[0-9]`)
)

func isInterpreter(name string) bool {
	return isOneOf(name, shells...) || pythonCommand.MatchString(name) || isOneOf(name, readers...)
}

func isClient(name string) bool { return isOneOf(name, clients...) || isOneOf(name, web...) }

// interprets looks at commands that run texts and files, and at those that ask the API
// server on their own, and reports whether the command is one of them.
func (p *program) interprets(name string, args []string, c *syntax.CallExpr, in *script, f *frame) bool {
	switch {
	case isOneOf(name, shells...):
		p.shell(name, args, c, in, f)
	case pythonCommand.MatchString(name):
		p.pythonProgram(name, args, c, in, f)
	case isOneOf(name, readers...):
		if hasKubectl(strings.Join(args[1:], " ")) || p.readsKubectl(c, in, f) {
			p.unseen(in.at(c), in, "kubectl is in what %s runs", name)
		}
	case isOneOf(name, web...):
		if apiServer.MatchString(strings.Join(args[1:], " ")) || p.mentions(c, apiServer.MatchString) {
			p.unseen(in.at(c), in, "%s asks the API server, and which requests it sends is not looked at", name)
		}
	case isOneOf(name, clients...):
		word := firstWord(args[1:])
		local := isOneOf(word, "", "version") || name == "helm" && isOneOf(word, offline...)
		if !local {
			p.unseen(in.at(c), in, "%s asks the API server, and which requests it sends is not looked at", strings.TrimSpace(name+" "+shown(word)))
		}
	default:
		return false
	}
	return true
}

// firstWord is the first argument that is no option.
func firstWord(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

// script is the file among those of the hooks that a word with a slash names.
func (p *program) script(word string) (Source, bool) {
	known := word[strings.LastIndex(word, hole)+1:]
	if !strings.Contains(word, "/") || path.Base(known) == "." || strings.HasSuffix(known, "/") {
		return Source{}, false
	}
	return p.fileNamed(known)
}

// shell looks at what a shell runs: a text behind -c, a file, or what it reads.
func (p *program) shell(name string, args []string, c *syntax.CallExpr, in *script, f *frame) {
	letters, words, runs := shellOptions(args[1:])
	switch {
	case !runs:
	case strings.Contains(letters, "c"):
		if len(words) > 0 {
			given := words[min(2, len(words)):] // behind the name of the shell
			p.text(name, words[0], c, in, f.inText(values{given}))
		}
	case len(words) > 0 && !strings.Contains(letters, "s"):
		p.file(name, words[0], words[1:], in.at(c), in, f)
	default:
		for _, text := range p.piped(name, c, in, f) {
			p.text(name, text, c, in, f.inText(values{words}))
		}
	}
}

// shellOptions takes the arguments of a shell apart: the letters of its options, and the
// words behind them. A shell that only talks of itself runs none.
func shellOptions(args []string) (letters string, words []string, runs bool) {
	for len(args) > 0 {
		a, values := args[0], 0
		name := strings.TrimLeft(a, "-")
		switch long := strings.HasPrefix(a, "--") || a == "-"+name && isOneOf(name, longOptions...); {
		case isOneOf(a, "-", "--"):
			return letters, args[1:], true
		case long && isOneOf(name, "help", "version"):
			return "", nil, false
		case long && isOneOf(name, "rcfile", "init-file"):
			values = 1
		case long:
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+"):
			letters += a[1:]
			values = strings.Count(a, "o") + strings.Count(a, "O")
		default:
			return letters, args, true
		}
		args = args[min(1+values, len(args)):]
	}
	return letters, nil, true
}

// file starts a file that an interpreter is given.
func (p *program) file(by, name string, args []string, at place, in *script, f *frame) {
	known := name[strings.LastIndex(name, hole)+1:]
	if s, found := p.fileNamed(known); found && known != "" {
		p.start(s, f.with(args))
		return
	}
	p.unseen(at, in, "what %s runs is not among the hooks' files: %s", shown(by), shown(name))
}

// pythonProgram looks at what Python runs, in the same way.
func (p *program) pythonProgram(name string, args []string, c *syntax.CallExpr, in *script, f *frame) {
	text, module, words, runs := pythonOptions(args[1:])
	if runs && module == "" && text == "" && (len(words) == 0 || words[0] == "-") {
		text = strings.Join(p.piped(name, c, in, f), "\n")
	}
	switch {
	case !runs:
	case module != "":
		p.pythonModule(name, module, in.at(c), in)
	case pythonInHook.MatchString(text):
		p.unseen(in.at(c), in, "Python code in a shell script is not read")
	case text == "" && len(words) > 0 && words[0] != "-":
		p.file(name, words[0], words[1:], in.at(c), in, f)
	}
}

// ownModules are modules of Python's own, and pip, that people run: they ask no API
// server, and run no other program of the user's.
var ownModules = strings.Fields(`ast base64 calendar compileall dis ensurepip gzip http json pip platform py_compile
	site sysconfig tabnanny tarfile timeit tokenize uuid venv zipapp zipfile`)

// pythonModule starts a module, with the packages that it is in.
func (p *program) pythonModule(by, name string, at place, in *script) {
	root, _, _ := strings.Cut(name, ".")
	files := p.modules(name)
	files = append(files, p.modules(name+".__main__")...)
	for _, s := range files {
		p.start(s, &frame{})
	}
	switch {
	case len(files) > 0 || isOneOf(root, ownModules...):
	case isOneOf(root, pythonClients...):
		p.unseen(at, in, "the client of module %s", root)
	default:
		p.unseen(at, in, "what %s runs is not among the hooks' files: %s", shown(by), shown(name))
	}
}

// pythonOptions takes the arguments of Python apart: the text behind -c, the module
// behind -m, or the words behind the options. When it only talks of itself, it runs none.
func pythonOptions(args []string) (text, module string, words []string, runs bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		a := args[0]
		args = args[1:]
		at := strings.IndexAny(a, "cmWXVh?")
		switch {
		case a == "--":
			return "", "", args, true
		case a == "--check-hash-based-pycs":
			args = args[min(1, len(args)):]
			continue
		case strings.HasPrefix(a, "--"):
			return "", "", nil, false
		case at < 0:
			continue
		}
		value := a[at+1:]
		if value == "" && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch a[at] {
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

// piped are the texts that an interpreter reads, as far as they are known.
func (p *program) piped(by string, c *syntax.CallExpr, in *script, f *frame) []string {
	texts, known := p.input(c, in, f)
	if !known {
		p.unseen(in.at(c), in, "what %s reads is known only when it runs", by)
	}
	return texts
}

// readsKubectl reports whether kubectl is in what a command reads.
func (p *program) readsKubectl(c *syntax.CallExpr, in *script, f *frame) bool {
	texts, _ := p.input(c, in, f)
	return hasKubectl(strings.Join(texts, "\n"))
}
