// Package kubectl stands in for kubectl in tests of hooks: the commands, flags and
// forms of output that hooks use, over an API server of which it knows nothing but
// its interface. What it does not know is an error that says so: it never passes
// over a flag that has an effect.
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
)

// API is what kubectl needs of an API server: its objects, and what it serves.
type API interface {
	patch.API
	Table() *kinds.Table
}

// Call is one run of kubectl.
type Call struct {
	Args           []string // without the name of the program
	Dir            string   // where relative paths begin
	Namespace      string   // when no flag names one; default, when empty
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	files map[string][]byte // what the caller read, by its path
}

// Run does what a call asks for, and returns the exit code.
func Run(ctx context.Context, api API, c Call) int {
	r := &run{Context: ctx, api: api, Call: c}
	if err := r.dispatch(); err != nil {
		_, _ = fmt.Fprintln(c.Stderr, explain(err))
		return 1
	}
	return 0
}

// run is a call at work.
type run struct {
	context.Context
	Call
	api     API
	command string
	flags   *pflag.FlagSet
	options
}

// command is one of kubectl's.
type command struct {
	flags string // the names of its flags, beside those of all
	run   func(r *run, args []string) error
}

// commands are those that are known, and subcommands those of some of them.
var (
	commands = map[string]command{
		"annotate":      {"quiet-write all annotate-overwrite dry-run field-selector filename list output resource-version selector", (*run).annotate},
		"api-resources": {"api-group namespaced no-headers output verbs", (*run).apiResources},
		"api-versions":  {"", (*run).apiVersions},
		"apply":         {"dry-run filename output quiet-apply", (*run).apply},
		"create":        {"quiet-write dry-run filename output", (*run).create},
		"delete":        {"all all-namespaces cascade dry-run field-selector filename ignore-not-found output selector quiet-delete", (*run).delete},
		"get":           {"all-namespaces field-selector filename ignore-not-found label-columns no-headers output selector show-kind show-labels sort-by quiet-get", (*run).get},
		"label":         {"quiet-write all annotate-overwrite dry-run field-selector filename list output resource-version selector", (*run).label},
		"patch":         {"quiet-write dry-run filename output patch patch-file subresource type", (*run).patch},
		"replace":       {"quiet-write cascade dry-run filename force output subresource quiet-delete", (*run).replace},
		"scale":         {"all current-replicas filename output replicas resource-version selector quiet-scale", (*run).scale},
		"version":       {"client output", (*run).version},
		"wait":          {"all all-namespaces field-selector filename for output selector timeout", (*run).wait},
	}
	subcommands = map[string]command{
		"auth can-i":             {"all-namespaces quiet subresource", (*run).canI},
		"config current-context": {"", (*run).currentContext},
		"config view":            {"minify output raw", (*run).viewConfig},
		"create configmap":       {"quiet-write from-env-file from-file from-literal dry-run output", (*run).createConfigMap},
		"create namespace":       {"quiet-write dry-run output", (*run).createNamespace},
		"create secret generic":  {"quiet-write from-env-file from-file from-literal dry-run output secret-type", (*run).createSecret},
		"create secret tls":      {"quiet-write cert dry-run key output", (*run).createTLS},
		"create serviceaccount":  {"quiet-write dry-run output", (*run).createServiceAccount},
		"rollout restart":        {"quiet-write filename output selector", (*run).restart},
	}
	// aliases are other names of commands.
	aliases = map[string]string{"create cm": "create configmap", "create ns": "create namespace", "create sa": "create serviceaccount"}
)

// dispatch finds the command among the arguments, and runs it.
func (r *run) dispatch() error {
	r.flags = r.newFlags("")
	r.flags.SetInterspersed(false)
	if err := r.parse(r.Args); err != nil {
		return err
	}
	args := r.flags.Args()
	if len(args) == 0 {
		return errors.New("kubectl without a command does nothing here")
	}
	name, cmd, rest := find(args)
	r.command = name
	if cmd.run == nil {
		return fmt.Errorf("operon's kubectl does not know kubectl %s; it knows %s", name, strings.Join(known(), ", "))
	}
	r.flags = r.newFlags(cmd.flags)
	if err := r.parse(rest); err != nil {
		return err
	}
	return cmd.run(r, r.flags.Args())
}

// find returns the command with the longest name that arguments begin with.
func find(args []string) (string, command, []string) {
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
		return "create " + args[1], command{}, nil // flags of which create itself does not have
	}
	return args[0], commands[args[0]], args[1:]
}

func known() []string {
	return slices.Sorted(maps.Keys(mergedCommands()))
}

func mergedCommands() map[string]command {
	all := maps.Clone(commands)
	maps.Copy(all, subcommands)
	return all
}

// parse reads flags; of one that is not known, the error names the command.
func (r *run) parse(args []string) error {
	err := r.flags.Parse(args)
	if err == nil {
		return nil
	}
	of := strings.TrimSpace("kubectl " + r.command)
	return fmt.Errorf("%w: operon's kubectl knows these flags of %s: %s", err, of, strings.Join(r.flagNames(), " "))
}

func (r *run) printf(format string, args ...any) { _, _ = fmt.Fprintf(r.Stdout, format, args...) }

func (r *run) warnf(format string, args ...any) { _, _ = fmt.Fprintf(r.Stderr, format, args...) }
