package rbac

import (
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"mvdan.cc/sh/v3/syntax"
)

// Groups of programs.
var (
	// printers never run their arguments.
	printers = strings.Fields("echo printf which type hash log : [ [[ test read local export grep sed cat set shift return exit")
	// wrappers run the command after their options.
	wrappers = strings.Fields("command exec builtin env time timeout nohup nice sudo xargs stdbuf setsid flock watch retry busybox")
	// evaluators run code that operon does not analyze.
	evaluators  = strings.Fields("eval trap find parallel awk gawk mawk perl ruby node su ssh docker nsenter chroot script expect lua")
	interpreter = lazyregexp.New(`^(?:(?:ba|da|a|k|z)?sh|python[0-9.]*)$`)
	// clients call the API server on their own, and web are clients of any server.
	clients = strings.Fields("helm helmfile flux kapp istioctl cmctl velero tkn virtctl skaffold kubeadm stern linkerd cilium kubeseal")
	web     = strings.Fields("curl wget http https xh")
	// offline are the commands of helm that call no API server.
	offline = strings.Fields("version template lint package show pull dependency repo create env help")
)

var (
	kubectlWord = lazyregexp.New(`(?:^|[^\w.-])(?:kubectl|oc)(?:$|[^\w.-])|(?i)\$\w*(?:kubectl)`)
	apiServer   = lazyregexp.New(`kubernetes\.(?:default|svc)|\$?KUBERNETES_(?:SERVICE|PORT)|serviceaccount/(?:token|ca\.crt)|/api/v1/(?:namespaces|nodes|pods|secrets|configmaps|services|events|watch)\b|/apis/[a-z0-9.-]+/v[0-9]`)
	codeForAPI  = lazyregexp.New(`(?i)kube|/apis?/|serviceaccount/|\b(?:oc|` + strings.Join(clients, "|") + `)\b`)
)

// isKubectl reports whether a program is kubectl, or oc, which takes the same arguments.
func isKubectl(program string) bool { return isOneOf(path.Base(program), "kubectl", "oc") }

// hasKubectl reports whether a text has kubectl as a word, or in the name of a variable.
func hasKubectl(text string) bool { return kubectlWord().MatchString(text) }

// invocation is the name of a command, followed by its arguments.
type invocation struct {
	*scope
	node *syntax.CallExpr // nil in Python
	args []string
}

func (c invocation) at() place {
	if c.node == nil {
		return *c.place
	}
	return c.scope.at(c.node)
}

// mentions reports whether a text of the command passes a test: an argument, or what
// the program mentions.
func (c invocation) mentions(test func(string) bool) bool {
	return slices.ContainsFunc(c.args[1:], test) || c.node != nil && c.program.mentions(c.node, test)
}

// reportUnknown reports requests that cannot be derived, unless a marker right above
// declares them.
func (c invocation) reportUnknown(format string, args ...any) {
	c.deriver.reportUnknown(c.Source, c.at(), format, args...)
}

func (d *deriver) reportUnknown(s Source, at place, format string, args ...any) {
	if !isDeclared(s, at) {
		d.find(at, ruleUnknown, "declare them with a marker right above: "+exampleMarker, unknownRequests+format, args...)
	}
}

// call follows a command.
func (c invocation) call() {
	if len(c.args) == 0 {
		return
	}
	name := path.Base(c.args[0])
	_, isFunction := c.functions[c.args[0]]
	own, isOwn := c.ownFile(c.args[0])
	switch {
	case isOwn && !isFunction:
		c.start(own, c.args[1:], c.depth+1)
	case c.isJQ():
		c.jq()
	case isFunction:
		c.callFunction()
	case isKubectl(name):
		c.kubectl()
		return
	case !isKnown(c.args[0]):
		c.callUnknown()
	case isOneOf(name, "echo", "printf"):
		c.operationsIn(printedText(c.args))
		return
	case isOneOf(name, printers...):
		return
	case interpreter().MatchString(name) && (!c.prose || len(c.args) > 1 && fileLike().MatchString(c.args[1])):
		c.callInterpreter(name)
	case isOneOf(name, wrappers...):
		c.callWrapped(name)
		return
	case c.prose && !isOneOf(name, evaluators...):
	case name == "helm" && len(c.args) > 1 && isOneOf(c.args[1], offline...) && !c.mentions(func(text string) bool { return text == "--validate" }):
	case isOneOf(name, clients...) || isOneOf(name, web...):
		if !isOneOf(name, web...) || c.mentions(apiServer().MatchString) {
			c.reportUnknown("%s calls the API server", name)
		}
	default:
		c.callOther(name)
	}
	c.enterMentioned()
}

// callFunction enters a function. It may run its arguments, so kubectl among them must
// lead to a kubectl call.
func (c invocation) callFunction() {
	before := c.kubectls
	entered := c.enter(c.args[0], c.args[1:], c.depth+1)
	if entered && c.kubectls == before && slices.ContainsFunc(c.args[1:], isKubectl) {
		c.reportUnknown("kubectl is an argument of %s, which may run it", c.args[0])
	}
}

// enterMentioned enters the functions that the arguments name: something may call them.
func (c invocation) enterMentioned() {
	for _, text := range c.args[1:] {
		for word := range wordsIn(text) {
			if word != c.args[0] {
				c.enter(word, anyArguments, c.depth+1)
			}
		}
	}
}

// wordsIn returns the words of a text that may be shell code.
func wordsIn(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n;&|(){}<>\"'`", r) })
}

// callUnknown handles a command whose name is known only at run time: it may be any
// function.
func (c invocation) callUnknown() {
	if c.isEngineLibrary() {
		return // it calls what hook::run is documented to call
	}
	if c.node != nil && c.program.mentions(c.node.Args[0], hasKubectl) {
		c.reportUnknown("%s may be any program", source(c.node.Args[0]))
	}
	c.callOther(shown(c.args[0]))
	for _, name := range c.functionNames() {
		if !c.functions[name].in.isEngineLibrary() {
			c.enter(name, anyArguments, c.depth+1)
		}
	}
}

// callWrapped follows the command after the options of a wrapper: as a rule of thumb,
// the first argument that is a program which is followed.
func (c invocation) callWrapped(name string) {
	for i, word := range c.args {
		program := path.Base(word)
		_, isFunction := c.functions[word]
		_, isOwn := c.ownFile(word)
		if i == 0 || !isKnown(word) || !isOwn && !isFunction && !interpreter().MatchString(program) &&
			!slices.Contains(slices.Concat(evaluators, clients, web, []string{"kubectl", "oc"}), program) {
			continue
		}
		options := c.args[1:i]
		if c.args = c.args[i:]; name == "xargs" {
			c.args = withInput(options, c.args)
		}
		switch {
		case name == "command" && i > 1: // command -v runs nothing
		case isKubectl(word): // not a function of this name
			c.kubectl()
		default:
			c.call()
		}
		return
	}
	if c.mentions(hasKubectl) {
		c.reportUnknown("%s may run kubectl", name)
	} else if c.mentions(c.runsOwnFile) {
		c.reportUnknown("%s may run a file of the hooks", name)
	}
	c.enterMentioned()
}

// withInput adds the arguments that xargs reads, or replaces its -I in the others.
func withInput(options, args []string) []string {
	for i, o := range options {
		replaced, isReplace := strings.CutPrefix(o, "-I")
		if !isReplace {
			continue
		}
		if replaced == "" && i+1 < len(options) {
			replaced = options[i+1]
		}
		if replaced != "" {
			args = slices.Clone(args)
			for j := range args {
				args[j] = strings.ReplaceAll(args[j], replaced, unknown)
			}
			return args
		}
	}
	return append(slices.Clip(args), wildcard)
}

// callOther handles a program that may run its arguments or not.
func (c invocation) callOther(name string) {
	switch {
	case slices.ContainsFunc(c.args[1:], isKubectl):
		c.reportUnknown("kubectl is an argument of %s, which may run it", name)
	case isOneOf(name, evaluators...) && c.mentions(c.mayCallAPI):
		c.reportUnknown("%s runs code that operon does not analyze", name)
	}
}
