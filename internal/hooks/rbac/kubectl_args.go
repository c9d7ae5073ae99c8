package rbac

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// request is a kubectl command line, taken apart.
type request struct {
	program    string   // kubectl, or oc, which has its commands and others
	command    string   // get; of commands with a second word, both: rollout restart
	words      []string // what is no option
	options    map[string]string
	off        []string // options that are false
	files      []string
	unknown    string // why it cannot be read, or ""
	dashed     bool   // there are words behind --, which are for the container
	everywhere bool   // -A
}

// Options of kubectl with a value in the next argument: those that all commands
// have, and those of some. Others have none, or one behind =.
var (
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
	valuedShort = "nflokpcsLv"
	flags       = strings.Fields(`--all --all-namespaces --watch --watch-only --output-watch-events --show-labels --show-kind --show-managed-fields
		--no-headers --ignore-not-found --server-print --recursive --overwrite --local --list --force --now --wait --server-side
		--force-conflicts --prune --openapi-patch --all-containers --follow --previous --prefix --timestamps --ignore-errors
		--insecure-skip-tls-verify --insecure-skip-tls-verify-backend --match-server-version --warnings-as-errors --disable-compression
		--stdin --tty --quiet --rm --attach --expose --append-hash --edit --save-config --resolve --dry-run --cascade --validate
		--allow-missing-template-keys --record --windows-line-endings --help --client --short --command --leave-stdin-open --privileged
		--interactive --sum --use-protocol-buffers --no-wait --show-capacity --default --containers --no-preserve`)
)

// commands of kubectl whose second word is a part of them.
var twofold = []string{"rollout", "set", "top", "auth", "certificate", "config", "cluster-info", "plugin", "alpha", "api-resources", "apply"}

// isKubectl reports whether a program is kubectl, or oc, which takes the same arguments.
func isKubectl(program string) bool { return isOneOf(path.Base(program), "kubectl", "oc") }

// parseKubectl takes a call of kubectl apart.
func parseKubectl(call []string) request {
	r, args := request{program: path.Base(call[0]), options: map[string]string{}}, call[1:]
	for i := 0; i < len(args) && r.unknown == ""; i++ {
		a := args[i]
		switch {
		case a == many:
			r.unknown = "its arguments are known only when it runs"
		case a == "--":
			r.dashed = true
			i = len(args)
		case strings.HasPrefix(a, "--"):
			i += r.long(a, args[i+1:])
		case len(a) > 1 && a[0] == '-':
			i += r.short(a, args[i+1:])
		default:
			r.words = append(r.words, a)
		}
	}
	if r.unknown != "" {
		return r
	}
	if len(r.words) > 0 {
		r.command, r.words = r.words[0], r.words[1:]
	}
	if !isKnown(r.command) {
		r.unknown = "which command it is, is known only when it runs"
	}
	if isOneOf(r.command, twofold...) && len(r.words) > 0 && (r.command != "apply" || isOneOf(r.words[0], "view-last-applied", "set-last-applied", "edit-last-applied")) {
		r.command, r.words = r.command+" "+r.words[0], r.words[1:]
	}
	for _, identity := range []string{"as", "kubeconfig", "server", "token", "user", "context", "cluster", "client-certificate"} {
		if _, given := r.options[identity]; given && r.unknown == "" {
			r.unknown = "with --" + identity + " it is not the operator's account that asks"
		}
	}
	return r
}

// long reads an option, and returns how many arguments its value takes.
func (r *request) long(a string, rest []string) int {
	name, value, inside := strings.Cut(a, "=")
	switch {
	case !isKnown(name):
		r.unknown = "an option is known only when it runs"
	case inside:
		r.option(name[2:], value)
	case slices.Contains(valued, name) && !r.isSwitch(name):
		if len(rest) == 0 || rest[0] == many {
			r.unknown = name + " has no value"
			return 0
		}
		r.option(name[2:], rest[0])
		return 1
	case slices.Contains(flags, name):
		r.option(name[2:], "true")
	default:
		r.unknown = fmt.Sprintf("whether option %s has a value is not known; write it with =", name)
	}
	return 0
}

// isSwitch reports whether an option that has a value elsewhere has none in this
// command.
func (r *request) isSwitch(name string) bool {
	return name == "--containers" && len(r.words) > 0 && r.words[0] == "top"
}

var longOf = map[byte]string{'n': "namespace", 'f': "filename", 'l': "selector", 'o': "output", 'k': "kustomize", 'p': "patch", 'c': "container",
	's': "server", 'L': "label-columns", 'v': "v", 'A': "all-namespaces", 'w': "watch", 'R': "recursive", 'i': "stdin", 't': "tty", 'q': "quiet", 'h': "help"}

// short reads options of one letter.
func (r *request) short(a string, rest []string) int {
	command := ""
	if len(r.words) > 0 {
		command = r.words[0]
	}
	for i := 1; i < len(a); i++ {
		letter := a[i]
		name, known := longOf[letter]
		switch {
		case !known:
			r.unknown = fmt.Sprintf("option -%s is not known", shown(string(letter)))
			return 0
		case command == "logs" && (letter == 'f' || letter == 'p'): // follow, previous
			continue
		case strings.IndexByte(valuedShort, letter) < 0:
			r.option(name, "true")
			continue
		case i+1 < len(a):
			r.option(name, strings.TrimPrefix(a[i+1:], "="))
			return 0
		case len(rest) == 0 || rest[0] == many:
			r.unknown = "-" + string(letter) + " has no value"
			return 0
		}
		r.option(name, rest[0])
		return 1
	}
	return 0
}

func (r *request) option(name, value string) {
	switch name {
	case "filename", "kustomize":
		r.files = append(r.files, value)
	case "all-namespaces":
		r.everywhere = value != "false"
	default:
		if value == "false" {
			r.off = append(r.off, name)
			return
		}
		r.options[name] = value
	}
}

// onClient reports whether a call only says what it would do: --dry-run=client, and
// what older ones take for the same.
func (r *request) onClient() bool {
	return isOneOf(r.options["dry-run"], "client", "true", "unchanged")
}

func (r *request) has(options ...string) bool {
	return slices.ContainsFunc(options, func(o string) bool { _, given := r.options[o]; return given })
}
