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
	for i := 1; i < len(args); i++ {
		a := args[i]
		switch {
		case strings.HasPrefix(a, "--"):
			return // --version
		case isOneOf(a, "-o", "-O", "+o", "+O"):
			i++
		case strings.HasPrefix(a, "-") && strings.Contains(a, "c"):
			if i+1 < len(args) {
				p.text(name, args[i+1], c, in, f)
			}
			return
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+"):
		default:
			p.file(name, a, args[i+1:], c, in)
			return
		}
	}
	for _, text := range p.piped(name, c, in, f) {
		p.text(name, text, c, in, f)
	}
}

// piped are the texts that an interpreter reads, as far as they are known.
func (p *program) piped(by string, c *syntax.CallExpr, in *script, f *frame) []string {
	texts, known := p.input(c, in, f)
	if !known {
		p.unseen(in.at(c), in, "what %s reads is known only when it runs", by)
	}
	return texts
}

// file starts a file that an interpreter is given.
func (p *program) file(by, name string, args []string, c *syntax.CallExpr, in *script) {
	known := name[strings.LastIndex(name, hole)+1:]
	if s, found := p.fileNamed(known); found && known != "" {
		p.start(s, args, !isOneOf(many, args...))
		return
	}
	p.unseen(in.at(c), in, "what %s runs is not among the hooks' files: %s", by, shown(name))
}

// pythonProgram looks at what Python runs, in the same way.
func (p *program) pythonProgram(name string, args []string, c *syntax.CallExpr, in *script, f *frame) {
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-c" && i+1 < len(args):
			p.pythonText(args[i+1], in.at(c), in)
			return
		case a == "-m" || strings.HasPrefix(a, "--") || a == "-V":
			return
		case strings.HasPrefix(a, "-") && a != "-":
		case a != "-":
			p.file(name, a, args[i+1:], c, in)
			return
		}
	}
	for _, text := range p.piped(name, c, in, f) {
		p.pythonText(text, in.at(c), in)
	}
}

// readsKubectl reports whether kubectl is in what a command reads.
func (p *program) readsKubectl(c *syntax.CallExpr, in *script, f *frame) bool {
	texts, _ := p.input(c, in, f)
	return hasKubectl(strings.Join(texts, "\n"))
}
