package rbac

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"mvdan.cc/sh/v3/syntax"
)

// Programs by what they do with their arguments.
var (
	// printers run none of them.
	printers = []string{"echo", "printf", "which", "type", "hash", "log", ":", "[", "[[", "test", "read", "local", "export",
		"jq", "grep", "sed", "cat", "tee", "set", "shift", "return", "exit"}
	// wrappers run the command behind their options.
	wrappers = []string{"command", "exec", "builtin", "env", "time", "timeout", "nohup", "nice", "sudo", "xargs", "stdbuf", "setsid", "flock", "watch", "retry", "busybox"}
	// evaluators run a text that is not followed.
	evaluators = []string{"eval", "trap", "find", "parallel", "awk", "gawk", "mawk", "perl", "ruby", "node", "su", "ssh", "docker",
		"nsenter", "chroot", "script", "expect", "lua"}
	shells        = []string{"bash", "sh", "dash", "ash", "ksh", "zsh"}
	pythonProgram = lazyregexp.New(`^python[0-9.]*$`)
	// clients call the API server on their own.
	clients = []string{"helm", "helmfile", "flux", "kapp", "istioctl", "cmctl", "velero", "tkn", "virtctl", "skaffold", "kubeadm", "stern", "linkerd", "cilium", "kubeseal"}
	// offline are commands of helm that call no server.
	offline = []string{"template", "lint", "package", "show", "version", "completion", "env", "create", "dependency", "dep", "pull", "push", "repo", "search", "verify"}
	// web are clients of any server.
	web = []string{"curl", "wget", "http", "https", "xh"}
)

var (
	kubectlWord = lazyregexp.New(`(?:^|[^\w.-])(?:kubectl|oc)(?:$|[^\w.-])|(?i)\$\w*(?:kubectl)`)
	apiServer   = lazyregexp.New(`kubernetes\.(?:default|svc)|\$?KUBERNETES_(?:SERVICE|PORT)|serviceaccount/(?:token|ca\.crt)|/api/v1/(?:namespaces|nodes|pods|secrets|configmaps|services|events|watch)\b|/apis/[a-z0-9.-]+/v[0-9]`)
)

// isKubectl reports whether a program is kubectl, or oc, which takes the same arguments.
func isKubectl(program string) bool { return isOneOf(path.Base(program), "kubectl", "oc") }

// hasKubectl reports whether a text has kubectl as a word, or in the name of a variable.
func hasKubectl(text string) bool { return kubectlWord().MatchString(text) }

func isInterpreter(name string) bool {
	return isOneOf(name, shells...) || pythonProgram().MatchString(name)
}

// invocation is one expansion of a command.
type invocation struct {
	args []string
	node *syntax.CallExpr // nil in Python
	in   *script
	f    *frame
}

func (c invocation) at() place {
	if c.node == nil {
		return *c.in.place
	}
	return c.in.at(c.node)
}

// with returns the invocation of another command in the same place.
func (c invocation) with(args []string) invocation {
	c.args = args
	return c
}

// call follows a command.
func (p *program) call(c invocation) {
	if len(c.args) == 0 {
		return
	}
	name := path.Base(c.args[0])
	fn := p.functions[c.args[0]]
	own, isOwn := p.ownFile(c.args[0])
	switch {
	case fn == nil && isOwn:
		p.start(own, c.f.call(values{c.args[1:]}))
	case strings.HasSuffix(name, "jq") && (fn == nil || fn.in.isEngineLibrary()):
		p.jq(c)
		p.enterMentioned(c, c.args)
	case fn != nil:
		p.callFunction(c)
	case isKubectl(name):
		p.kubectl(c)
	case !isKnown(c.args[0]):
		p.callUnknown(c)
	case isOneOf(name, wrappers...):
		p.callWrapped(name, c)
	case p.prose && !isInterpreter(name):
	case isOneOf(name, shells...):
		p.callShell(name, c)
	case pythonProgram().MatchString(name):
		p.callPython(name, c)
	case isOneOf(name, evaluators...):
		p.callEvaluator(name, c)
	case isOneOf(name, clients...) || isOneOf(name, web...):
		p.callClient(name, c)
	case isOneOf(name, "echo", "printf"):
		p.operationsIn(printedText(name, c.args[1:]), c.at(), c.in)
	case !isOneOf(name, printers...):
		p.callOther(c)
	}
}

// callFunction enters a function. It may run its arguments, so kubectl among them must
// lead to a kubectl call.
func (p *program) callFunction(c invocation) {
	before := p.kubectls
	entered := p.enter(c.args[0], c.f.call(values{c.args[1:]}))
	if entered && p.kubectls == before && slices.ContainsFunc(c.args[1:], isKubectl) {
		p.reportUnknown(c.at(), c.in, "kubectl is an argument of %s, which may run it", c.args[0])
	}
	p.enterMentioned(c, c.args[1:])
}

// enterMentioned enters the functions that are named in some texts: something may call
// them.
func (p *program) enterMentioned(c invocation, texts []string) {
	for _, text := range texts {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|(){}\"'", r) }) {
			if word != c.args[0] {
				p.enter(word, c.f.call(nil))
			}
		}
	}
}

// callOther handles a program that may run its arguments or not.
func (p *program) callOther(c invocation) {
	if slices.ContainsFunc(c.args[1:], isKubectl) {
		p.reportUnknown(c.at(), c.in, "kubectl is an argument of %s, which may run it", shown(path.Base(c.args[0])))
	}
	p.enterMentioned(c, c.args[1:])
}

// callUnknown handles a command whose name is known only at run time: it may be any
// function.
func (p *program) callUnknown(c invocation) {
	if c.in.isEngineLibrary() {
		return // it calls what hook::run is documented to call
	}
	if c.node != nil && p.mentions(c.node.Args[0], hasKubectl) {
		var source strings.Builder
		if err := syntax.NewPrinter().Print(&source, c.node.Args[0]); err == nil {
			p.reportUnknown(c.at(), c.in, "%s may be any program", source.String())
		}
	}
	if slices.ContainsFunc(c.args[1:], isKubectl) {
		p.reportUnknown(c.at(), c.in, "kubectl is an argument of %s, which may run it", shown(c.args[0]))
	}
	for _, name := range p.functionNames() {
		if !p.functions[name].in.isEngineLibrary() {
			p.enter(name, c.f.call(nil))
		}
	}
}

// callWrapped follows the command behind the options of a wrapper: as a rule of thumb,
// the first argument that is a program which is followed.
func (p *program) callWrapped(name string, c invocation) {
	if name == "command" && len(c.args) > 1 && isOneOf(c.args[1], "-v", "-V") {
		return
	}
	for i, word := range c.args[1:] {
		_, isOwn := p.ownFile(word)
		program := path.Base(word)
		if !isKnown(word) || !isOwn && !isKubectl(word) && p.functions[word] == nil && !isInterpreter(program) &&
			!isOneOf(program, slices.Concat(evaluators, clients, web)...) {
			continue
		}
		args := c.args[i+1:]
		if name == "xargs" {
			args = xargs(c.args[1:i+1], args)
		}
		p.call(c.with(args))
		return
	}
}

// xargs returns a command with the argument that xargs adds.
func xargs(options, command []string) []string {
	mark := ""
	for i, o := range options {
		if strings.HasPrefix(o, "-I") {
			if mark = o[2:]; mark == "" && i+1 < len(options) {
				mark = options[i+1]
			}
		}
	}
	if mark == "" {
		added := wildcard
		if isKubectl(command[0]) { // which treats one name as it does several
			added = unknown
		}
		return append(slices.Clone(command), added)
	}
	var all []string
	for _, word := range command {
		all = append(all, strings.ReplaceAll(word, mark, unknown))
	}
	return all
}
