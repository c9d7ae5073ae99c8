package rbac

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// request is a kubectl command line by its parts.
type request struct {
	program       string   // kubectl or oc
	command       string   // get; of commands with a second word both: rollout restart
	words         []string // arguments that are not options
	options       map[string]string
	disabled      []string // options that are false
	files         []string
	allNamespaces bool
	problem       string // why the requests are unknown, or ""
}

// Options of kubectl. internal/hooks/kubectl, which executes commands, declares options
// command by command and rejects those that it cannot execute. Here one list serves
// all commands.
var (
	// valued have a value in the next argument.
	valued = strings.Fields(`--as --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key --cluster
		--context --kubeconfig --namespace --password --profile --profile-output --request-timeout --server --tls-server-name --token --user
		--username --v --vmodule --log-flush-frequency --output --selector --field-selector --filename --kustomize --patch --patch-file --type
		--subresource --sort-by --label-columns --chunk-size --raw --template --field-manager --for --timeout --replicas --current-replicas
		--resource-version --image --from-literal --from-file --from-env-file --from --overrides --override-type --schedule --port --target-port
		--protocol --name --external-ip --session-affinity --cluster-ip --load-balancer-ip --min --max --cpu-percent --cpu --memory --env --keys --requests
		--limits --containers --container --since --since-time --tail --max-log-requests --pod-running-timeout --to-revision --revision
		--grace-period --clusterrole --role --serviceaccount --verb --resource --resource-name --non-resource-url --group --hard --scopes
		--min-available --max-unavailable --value --description --preemption-policy --cert --key --docker-server --docker-username
		--docker-password --docker-email --class --rule --default-backend --annotation --tcp --node-port --labels --restart --audience
		--duration --bound-object-kind --bound-object-name --bound-object-uid --pod-selector --concurrency --types --retries`)
	// switches have a value behind = at most.
	switches = strings.Fields(`--all --all-namespaces --watch --watch-only --output-watch-events --show-labels --show-kind --show-managed-fields
		--no-headers --ignore-not-found --server-print --recursive --overwrite --local --list --force --now --wait --server-side
		--force-conflicts --prune --openapi-patch --all-containers --follow --previous --prefix --timestamps --ignore-errors
		--insecure-skip-tls-verify --insecure-skip-tls-verify-backend --match-server-version --warnings-as-errors --disable-compression
		--stdin --tty --quiet --rm --attach --expose --append-hash --edit --save-config --resolve --dry-run --cascade --validate
		--allow-missing-template-keys --record --windows-line-endings --help --client --short --command --leave-stdin-open --privileged
		--interactive --sum --use-protocol-buffers --no-wait --show-capacity --default --containers --no-preserve`)
	shortOptions = map[byte]string{'n': "namespace", 'f': "filename", 'l': "selector", 'o': "output", 'k': "kustomize", 'p': "patch", 'c': "container",
		's': "server", 'L': "label-columns", 'v': "v", 'A': "all-namespaces", 'w': "watch", 'R': "recursive", 'i': "stdin", 't': "tty", 'q': "quiet", 'h': "help"}
	// identities are options that select another account or server.
	identities = []string{"as", "kubeconfig", "server", "token", "user", "context", "cluster", "client-certificate"}
	// groups are commands whose second word is part of the command.
	groups = []string{"rollout", "set", "top", "auth", "certificate", "config", "cluster-info", "plugin", "alpha"}
)

// parseKubectl parses a kubectl command line, whose first word is the program.
func parseKubectl(args []string) request {
	r, args := request{program: path.Base(args[0]), options: map[string]string{}}, args[1:]
	for i := 0; i < len(args) && r.problem == ""; i++ {
		switch a := args[i]; {
		case a == wildcard:
			r.problem = "the arguments are known only at run time"
		case a == "--": // what follows is for the container
			i = len(args)
		case strings.HasPrefix(a, "--"):
			i += r.long(a, args[i+1:])
		case len(a) > 1 && a[0] == '-':
			i += r.short(a, args[i+1:])
		default:
			r.words = append(r.words, a)
		}
	}
	if r.problem != "" {
		return r
	}
	if len(r.words) > 0 {
		r.command, r.words = r.words[0], r.words[1:]
	}
	if !isKnown(r.command) {
		r.problem = "the command is known only at run time"
	}
	if len(r.words) > 0 && (isOneOf(r.command, groups...) || r.command == "apply" && strings.HasSuffix(r.words[0], "-last-applied")) {
		r.command, r.words = r.command+" "+r.words[0], r.words[1:]
	}
	for _, identity := range identities {
		if _, given := r.options[identity]; given && r.problem == "" {
			r.problem = "with --" + identity + " another account sends the requests"
		}
	}
	return r
}

// long reads an option, and returns how many arguments its value takes.
func (r *request) long(a string, rest []string) int {
	name, value, inside := strings.Cut(a, "=")
	isSwitch := name == "--containers" && len(r.words) > 0 && r.words[0] == "top" // it has a value elsewhere
	switch {
	case !isKnown(name):
		r.problem = "an option is known only at run time"
	case inside:
		r.option(name[2:], value)
	case slices.Contains(valued, name) && !isSwitch:
		return r.next(name, name[2:], rest)
	case slices.Contains(switches, name):
		r.option(name[2:], "true")
	default:
		r.problem = fmt.Sprintf("the option %s is unknown; write its value with =", name)
	}
	return 0
}

// short reads options of one letter.
func (r *request) short(a string, rest []string) int {
	for i := 1; i < len(a); i++ {
		name, known := shortOptions[a[i]]
		switch {
		case !known:
			r.problem = fmt.Sprintf("the option -%s is unknown", shown(a[i:i+1]))
			return 0
		case len(r.words) > 0 && r.words[0] == "logs" && (a[i] == 'f' || a[i] == 'p'): // --follow, --previous
			continue
		case !slices.Contains(valued, "--"+name):
			r.option(name, "true")
			continue
		case i+1 < len(a):
			r.option(name, strings.TrimPrefix(a[i+1:], "="))
			return 0
		}
		return r.next("-"+a[i:i+1], name, rest)
	}
	return 0
}

// next reads the value of an option from the next argument.
func (r *request) next(option, name string, rest []string) int {
	if len(rest) == 0 || rest[0] == wildcard {
		r.problem = option + " has no value"
		return 0
	}
	r.option(name, rest[0])
	return 1
}

func (r *request) option(name, value string) {
	switch {
	case name == "filename" || name == "kustomize":
		r.files = append(r.files, value)
	case name == "all-namespaces":
		r.allNamespaces = value != "false"
	case value == "false":
		r.disabled = append(r.disabled, name)
	default:
		r.options[name] = value
	}
}

func (r *request) has(options ...string) bool {
	return slices.ContainsFunc(options, func(o string) bool { _, given := r.options[o]; return given })
}

// onClient reports whether a command changes nothing and asks no server:
// --dry-run=client, and what older versions take for the same.
func (r *request) onClient() bool {
	return isOneOf(r.options["dry-run"], "client", "true", "unchanged")
}

// waits reports whether kubectl delete waits until the objects are gone. It ignores
// that it may not read them.
func (r *request) waits() bool {
	return r.command == "delete" && !slices.Contains(r.disabled, "wait") && !r.has("dry-run")
}

// title names a command in messages and reasons: kubectl get.
func (r *request) title() string { return strings.TrimSpace(r.program + " " + r.command) }

// isChange reports whether a word is a change such as a=b or a-, and no name.
func (r *request) isChange(word string) bool {
	switch r.command {
	case "label", "annotate", "set image", "set env", "set resources", "set serviceaccount":
		return strings.Contains(word, "=") || strings.HasSuffix(word, "-")
	case "taint":
		return strings.ContainsAny(word, "=:") || strings.HasSuffix(word, "-")
	}
	return false
}

func wordAt(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return unknown
}
