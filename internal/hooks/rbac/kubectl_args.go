package rbac

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// kubectlArgs are the arguments of kubectl by their parts.
type kubectlArgs struct {
	command string            // get; of commands with a second word both: rollout restart
	words   []string          // arguments that are not options
	options map[string]string // without all-namespaces, filename and kustomize
	files   []string
	title   string // of the command in messages and reasons: kubectl get
	problem string // the first reason why the requests are unknown, or ""

	allNamespaces bool
}

// Options of the commands that are followed. An option that is missing here makes the
// requests unknown: it may select an account, a server, other objects or other verbs.
// internal/hooks/kubectl, which executes commands, declares options command by command.
var (
	// valued have a value in the next argument.
	valued = strings.Fields(`namespace output selector filename kustomize patch patch-file type subresource sort-by label-columns chunk-size
		template field-manager field-selector for timeout request-timeout cache-dir v replicas image from-literal from-file from-env-file
		schedule port tcp node-port external-name cluster-ip grace-period clusterrole role serviceaccount verb resource resource-name
		from container restart env overrides tail since since-time max-log-requests duration audience
		non-resource-url group hard scopes min-available max-unavailable value description preemption-policy cert key docker-server
		docker-username docker-password docker-email class rule default-backend annotation labels`)
	// switches have a value only after =.
	switches = strings.Fields(`all all-namespaces show-labels show-kind show-managed-fields no-headers ignore-not-found recursive overwrite
		now wait validate dry-run cascade allow-missing-template-keys save-config append-hash insecure-skip-tls-verify help client short
		warnings-as-errors force watch watch-only server-side force-conflicts stdin tty quiet command containers follow previous timestamps
		prefix all-containers`)
	// identities select another account or server. They have values.
	identities = strings.Fields(`as as-group as-uid kubeconfig context cluster user server token username password client-certificate client-key
		certificate-authority tls-server-name`)
	shortOptions = map[byte]string{'n': "namespace", 'f': "filename", 'l': "selector", 'o': "output", 'k': "kustomize", 'p': "patch",
		'L': "label-columns", 'v': "v", 'A': "all-namespaces", 'R': "recursive", 'h': "help",
		'c': "container", 'w': "watch", 'i': "stdin", 't': "tty", 'q': "quiet", 's': "server"}
)

// parseKubectl parses a kubectl command line, whose first word is the program.
func parseKubectl(args []string) kubectlArgs {
	k := kubectlArgs{options: map[string]string{}, title: path.Base(args[0])}
	for args = args[1:]; len(args) > 0; {
		switch a := args[0]; {
		case a == wildcard:
			k.problem = "the arguments are known only at run time"
			return k
		case a == "--" && len(k.words) > 0 && isOneOf(k.words[0], "exec", "run"): // a command for the container
			args = args[:1]
		case a == "--":
			k.reject("operon does not analyze --")
		case len(a) > 1 && a[0] == '-':
			args = k.option(a, args[1:])
			continue
		default:
			k.words = append(k.words, a)
		}
		args = args[1:]
	}
	if len(k.words) == 0 {
		return k
	}
	k.command, k.words = k.words[0], k.words[1:]
	if len(k.words) > 0 && isOneOf(k.command, "rollout", "config", "auth", "set", "top") {
		k.command, k.words = k.command+" "+k.words[0], k.words[1:]
	}
	if !isKnown(k.command) {
		k.reject("the command is known only at run time")
	} else if _, followed := kubectlCommands[k.command]; followed || k.problem == "" {
		k.title += " " + k.command // and not the value of an option
	}
	return k
}

// reject makes the requests unknown.
func (k *kubectlArgs) reject(format string, args ...any) {
	k.problem = cmp.Or(k.problem, fmt.Sprintf(format, args...))
}

// option reads an option, and returns the arguments after it.
func (k *kubectlArgs) option(a string, rest []string) []string {
	name, value, inside := strings.Cut(strings.TrimPrefix(a, "--"), "=")
	for i := 1; i < len(a) && a[1] != '-'; i++ { // the letters of short options
		name, value = shortOptions[a[i]], a[i+1:]
		if len(k.words) > 0 && k.words[0] == "logs" {
			name = cmp.Or(map[byte]string{'f': "follow", 'p': "previous"}[a[i]], name)
		}
		if inside = value != ""; hasValue(name) || strings.HasPrefix(value, "=") {
			value = strings.TrimPrefix(value, "=")
			break
		}
		if inside {
			k.set(name, "true", a)
		}
	}
	switch {
	case inside:
	case hasValue(name):
		if len(rest) == 0 || rest[0] == wildcard {
			k.reject("the option %s has no value", shown(a))
			return rest
		}
		value, rest = rest[0], rest[1:]
	default:
		value = "true"
	}
	k.set(name, value, a)
	return rest
}

func hasValue(option string) bool {
	return slices.Contains(valued, option) || slices.Contains(identities, option)
}

// set sets an option, which the argument a has.
func (k *kubectlArgs) set(name, value, a string) {
	switch {
	case !isKnown(name):
		k.reject("an option is known only at run time")
	case slices.Contains(identities, name):
		k.reject("with --%s another account may send the requests", name)
	case !slices.Contains(valued, name) && !slices.Contains(switches, name):
		k.reject("operon does not analyze the option %s", shown(a))
	case name == "filename" || name == "kustomize":
		k.files = append(k.files, value)
	case name == "all-namespaces":
		k.allNamespaces = value != "false"
	default:
		k.options[name] = value
	}
}

func (k *kubectlArgs) has(option string) bool {
	return k.options[option] != "" && k.options[option] != "false"
}

// onClient reports whether a command changes nothing and asks no server:
// --dry-run=client, and the forms of older versions.
func (k *kubectlArgs) onClient() bool {
	return isOneOf(k.options["dry-run"], "client", "true", "unchanged")
}

func wordAt(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return unknown
}
