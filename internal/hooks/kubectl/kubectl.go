// Package kubectl implements the commands, flags and output formats of kubectl that
// hooks use, for hook tests. It works with any implementation of [API]. A command or
// flag that it does not implement is an error. It ignores only flags that have no effect
// in a test.
package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/patch"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// API is the part of an API server that kubectl needs: objects and kinds.
type API interface {
	patch.API
	Table() *kinds.Table
	// CRD returns the CRD that defines a kind, or nil. It is not a request of the hook:
	// a server needs the CRD to print tables.
	CRD(k kinds.Kind) *unstructured.Unstructured
	// Scale patches the subresource scale, and returns the object.
	Scale(ctx context.Context, k kinds.Kind, namespace, name string, replicas int) (*unstructured.Unstructured, error)
}

// Call is one invocation of kubectl.
type Call struct {
	Args           []string // without the name of the program
	Dir            string   // the working folder
	Namespace      string   // without --namespace; "" means default
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	files map[string][]byte // files that the caller has read, by path
}

// run executes a call and returns the exit code.
func run(ctx context.Context, api API, c Call) int {
	r := &runner{api: api, Call: c}
	if err := r.dispatch(ctx); err != nil {
		_, _ = fmt.Fprintln(c.Stderr, errorText(err))
		return 1
	}
	return 0
}

// runner executes a call.
type runner struct {
	Call
	api     API
	command string
	flags   *pflag.FlagSet
	options
}

// command is a kubectl command.
type command struct {
	flags string // the names of its flags, without the global ones
	run   func(r *runner, ctx context.Context, args []string) error
}

// commands are the implemented commands, and subcommands the implemented subcommands.
var (
	commands = map[string]command{
		"annotate":      {"quiet-write all annotate-overwrite dry-run field-selector filename list output resource-version selector", (*runner).annotate},
		"api-resources": {"api-group namespaced no-headers output verbs", (*runner).apiResources},
		"api-versions":  {"", (*runner).apiVersions},
		"apply":         {"dry-run filename output quiet-apply", (*runner).apply},
		"create":        {"quiet-write dry-run filename output", (*runner).create},
		"delete":        {"all all-namespaces cascade dry-run field-selector filename ignore-not-found output selector quiet-delete", (*runner).delete},
		"get":           {"all-namespaces field-selector filename ignore-not-found label-columns no-headers output selector show-kind show-labels sort-by quiet-get", (*runner).get},
		"label":         {"quiet-write all annotate-overwrite dry-run field-selector filename list output resource-version selector", (*runner).label},
		"patch":         {"quiet-write dry-run filename output patch patch-file subresource type", (*runner).patch},
		"replace":       {"quiet-write cascade dry-run filename force output subresource quiet-delete", (*runner).replace},
		"scale":         {"all current-replicas filename output replicas resource-version selector quiet-scale", (*runner).scale},
		"version":       {"client output", (*runner).version},
		"wait":          {"all all-namespaces field-selector filename for output selector timeout", (*runner).wait},
	}
	subcommands = map[string]command{
		"auth can-i":             {"all-namespaces quiet subresource", (*runner).canI},
		"config current-context": {"", (*runner).currentContext},
		"config view":            {"minify output raw", (*runner).viewConfig},
		"create configmap":       {"quiet-write from-env-file from-file from-literal dry-run output", (*runner).createConfigMap},
		"create namespace":       {"quiet-write dry-run output", (*runner).createNamespace},
		"create secret generic":  {"quiet-write from-env-file from-file from-literal dry-run output secret-type", (*runner).createSecret},
		"create secret tls":      {"quiet-write cert dry-run key output", (*runner).createTLS},
		"create serviceaccount":  {"quiet-write dry-run output", (*runner).createServiceAccount},
		"rollout restart":        {"quiet-write filename output selector", (*runner).restart},
	}
	// aliases are short names of commands.
	aliases = map[string]string{"create cm": "create configmap", "create ns": "create namespace", "create sa": "create serviceaccount"}
)

// dispatch finds the command in the arguments and runs it.
func (r *runner) dispatch(ctx context.Context) error {
	r.flags = r.newFlags("")
	r.flags.SetInterspersed(false)
	if err := r.parse(r.Args); err != nil {
		return err
	}
	args := r.flags.Args()
	if len(args) == 0 {
		return errors.New("kubectl needs a command in hook tests")
	}
	name, cmd, rest := findCommand(args)
	r.command = name
	if cmd.run == nil {
		return fmt.Errorf("kubectl %s is not available in hook tests; available commands: %s", name, strings.Join(commandNames(), ", "))
	}
	r.flags = r.newFlags(cmd.flags)
	if err := r.parse(rest); err != nil {
		return err
	}
	return cmd.run(r, ctx, r.flags.Args())
}

// findCommand returns the command with the longest name at the start of args, and the
// arguments after it.
func findCommand(args []string) (string, command, []string) {
	for n := min(3, len(args)); n > 0; n-- {
		name := strings.Join(args[:n], " ")
		if alias, is := aliases[name]; is {
			name = alias
		}
		if cmd, is := subcommands[name]; is {
			return name, cmd, args[n:]
		}
	}
	if args[0] == "create" && len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		return "create " + args[1], command{}, nil // it does not have the flags of create
	}
	return args[0], commands[args[0]], args[1:]
}

func commandNames() []string {
	return slices.Sorted(maps.Keys(allCommands()))
}

func allCommands() map[string]command {
	all := maps.Clone(commands)
	maps.Copy(all, subcommands)
	return all
}

// parse parses flags. The error for an unknown flag lists the known ones.
func (r *runner) parse(args []string) error {
	err := r.flags.Parse(args)
	if err == nil {
		return nil
	}
	of := strings.TrimSpace("kubectl " + r.command)
	return fmt.Errorf("%w: flags of %s that are available in hook tests: %s", err, of, strings.Join(r.flagNames(), " "))
}

func (r *runner) printf(format string, args ...any) { _, _ = fmt.Fprintf(r.Stdout, format, args...) }

func (r *runner) warnf(format string, args ...any) { _, _ = fmt.Fprintf(r.Stderr, format, args...) }
