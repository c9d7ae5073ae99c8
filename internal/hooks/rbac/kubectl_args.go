package rbac

import (
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
	problem string // why the requests are unknown, or ""

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
		non-resource-url group hard scopes min-available max-unavailable value description preemption-policy cert key docker-server
		docker-username docker-password docker-email class rule default-backend annotation labels`)
	// switches have a value behind = at most.
	switches = strings.Fields(`all all-namespaces show-labels show-kind show-managed-fields no-headers ignore-not-found recursive overwrite
		now wait validate dry-run cascade allow-missing-template-keys save-config append-hash insecure-skip-tls-verify help client short
		warnings-as-errors force`)
	shortOptions = map[byte]string{'n': "namespace", 'f': "filename", 'l': "selector", 'o': "output", 'k': "kustomize", 'p': "patch",
		'L': "label-columns", 'v': "v", 'A': "all-namespaces", 'R': "recursive", 'h': "help"}
)

// parseKubectl parses a kubectl command line, whose first word is the program.
func parseKubectl(args []string) kubectlArgs {
	k := kubectlArgs{options: map[string]string{}, title: path.Base(args[0])}
	for args = args[1:]; len(args) > 0 && k.problem == ""; {
		switch a := args[0]; {
		case a == wildcard:
			k.problem = "the arguments are known only at run time"
		case len(a) > 1 && a[0] == '-':
			args = k.option(a, args[1:])
			continue
		default:
			k.words = append(k.words, a)
		}
		args = args[1:]
	}
	if k.problem != "" || len(k.words) == 0 {
		return k
	}
	k.command, k.words = k.words[0], k.words[1:]
	if len(k.words) > 0 && isOneOf(k.command, "rollout", "config", "auth") {
		k.command, k.words = k.command+" "+k.words[0], k.words[1:]
	}
	if !isKnown(k.command) {
		k.problem = "the command is known only at run time"
		return k
	}
	k.title += " " + k.command
	return k
}

// option reads an option, and returns the arguments behind it.
func (k *kubectlArgs) option(a string, rest []string) []string {
	name, value, inside := strings.Cut(strings.TrimPrefix(a, "--"), "=")
	if short := shortOptions[a[1]]; a[1] != '-' {
		name, value, inside = short, strings.TrimPrefix(a[2:], "="), len(a) > 2
		if inside && !slices.Contains(valued, short) { // letters of several options
			rest, inside = append([]string{"-" + a[2:]}, rest...), false
		}
	}
	switch {
	case inside:
	case slices.Contains(valued, name):
		if len(rest) == 0 || rest[0] == wildcard {
			k.problem = fmt.Sprintf("the option %s has no value", shown(a))
			return nil
		}
		value, rest = rest[0], rest[1:]
	default:
		value = "true"
	}
	switch {
	case !isKnown(name):
		k.problem = "an option is known only at run time"
	case !slices.Contains(valued, name) && !slices.Contains(switches, name):
		k.problem = fmt.Sprintf("the option %s is not followed", shown(a))
	case name == "filename" || name == "kustomize":
		k.files = append(k.files, value)
	case name == "all-namespaces":
		k.allNamespaces = value != "false"
	default:
		k.options[name] = value
	}
	return rest
}

func (k *kubectlArgs) has(option string) bool {
	return k.options[option] != "" && k.options[option] != "false"
}

// onClient reports whether a command changes nothing and asks no server:
// --dry-run=client, and what older versions take for the same.
func (k *kubectlArgs) onClient() bool {
	return isOneOf(k.options["dry-run"], "client", "true", "unchanged")
}

func wordAt(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return unknown
}
