package kubectl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// options holds the flag values of all commands.
type options struct {
	namespace       string
	filenames       []string
	selector        string
	fieldSelector   string
	output          string
	sortBy          string
	dryRun          string
	cascade         string
	patchText       string
	patchFile       string
	patchType       string
	subresource     string
	condition       string
	secretType      string
	cert, key       string
	apiGroup        string
	verbs           []string
	literals        []string
	sources         []string
	envFiles        []string
	labelColumns    []string
	replicas        int
	current         int
	resourceVersion string
	all             bool
	allNamespaces   bool
	ignoreMissing   bool
	noHeaders       bool
	showLabels      bool
	showKind        bool
	overwrite       bool
	listOnly        bool
	force           bool
	client          bool
	quiet           bool
	namespaced      bool
}

// ignored are global flags that select a server, a user or the verbosity. They have no
// effect, because a test has one server without authentication.
var ignored = []string{"as", "as-group", "as-uid", "cache-dir", "certificate-authority", "client-certificate", "client-key", "cluster", "context",
	"kubeconfig", "password", "profile", "profile-output", "request-timeout", "tls-server-name", "token", "user", "username", "vmodule"}

// quietFlags are flags that have no effect in a test, because nothing takes time and
// there is no other client. A name that ends in = needs a value.
var quietFlags = map[string][]string{
	"quiet-apply":  {"field-manager=", "validate", "wait", "timeout=", "overwrite", "openapi-patch", "record"},
	"quiet-delete": {"wait", "timeout=", "grace-period=", "force", "now"},
	"quiet-get":    {"chunk-size=", "server-print", "show-managed-fields", "allow-missing-template-keys"},
	"quiet-scale":  {"timeout="},
	"quiet-write":  {"field-manager=", "validate", "save-config", "record"},
}

// newFlags declares the global flags and the flags with the given names.
func (r *runner) newFlags(names string) *pflag.FlagSet {
	f := pflag.NewFlagSet("kubectl", pflag.ContinueOnError)
	f.Usage = func() {}
	f.StringVarP(&r.namespace, "namespace", "n", r.namespace, "")
	var ignore string
	for _, name := range ignored {
		f.StringVar(&ignore, name, "", "")
	}
	f.StringVarP(&ignore, "server", "s", "", "")
	f.StringVarP(&ignore, "v", "v", "", "")
	var no bool
	for _, name := range []string{"insecure-skip-tls-verify", "match-server-version", "disable-compression", "warnings-as-errors"} {
		f.BoolVar(&no, name, false, "")
	}
	for name := range strings.FieldsSeq(names) {
		for _, quiet := range quietFlags[name] {
			quiet, valued := strings.CutSuffix(quiet, "=")
			if f.Lookup(quiet) != nil {
				continue
			}
			f.StringVar(&ignore, quiet, "", "")
			if !valued {
				f.Lookup(quiet).NoOptDefVal = "true"
			}
		}
		r.declare(f, name)
	}
	return f
}

// declare declares the flag with a name.
func (r *runner) declare(f *pflag.FlagSet, name string) {
	texts := map[string]*string{"sort-by": &r.sortBy, "type": &r.patchType, "patch-file": &r.patchFile, "subresource": &r.subresource, "for": &r.condition,
		"cert": &r.cert, "key": &r.key, "api-group": &r.apiGroup, "field-selector": &r.fieldSelector, "resource-version": &r.resourceVersion}
	switches := map[string]*bool{"all": &r.all, "ignore-not-found": &r.ignoreMissing, "no-headers": &r.noHeaders, "show-labels": &r.showLabels,
		"show-kind": &r.showKind, "list": &r.listOnly, "client": &r.client, "namespaced": &r.namespaced, "force": &r.force}
	var none bool
	switch {
	case texts[name] != nil:
		f.StringVar(texts[name], name, "", "")
	case switches[name] != nil:
		if old := f.Lookup(name); old == nil {
			f.BoolVar(switches[name], name, false, "")
		}
	}
	switch name {
	case "all-namespaces":
		f.BoolVarP(&r.allNamespaces, name, "A", false, "")
	case "annotate-overwrite":
		f.BoolVar(&r.overwrite, "overwrite", false, "")
	case "cascade":
		f.StringVar(&r.cascade, name, "background", "")
		f.Lookup(name).NoOptDefVal = "background"
	case "current-replicas":
		f.IntVar(&r.current, name, -1, "")
	case "dry-run":
		f.StringVar(&r.dryRun, name, "none", "")
		f.Lookup(name).NoOptDefVal = "unchanged"
	case "filename":
		f.StringSliceVarP(&r.filenames, name, "f", nil, "")
	case "from-env-file":
		f.StringSliceVar(&r.envFiles, name, nil, "")
	case "from-file":
		f.StringSliceVar(&r.sources, name, nil, "")
	case "from-literal":
		f.StringArrayVar(&r.literals, name, nil, "")
	case "label-columns":
		f.StringSliceVarP(&r.labelColumns, name, "L", nil, "")
	case "output":
		f.StringVarP(&r.output, name, "o", "", "")
	case "patch":
		f.StringVarP(&r.patchText, name, "p", "", "")
	case "quiet":
		f.BoolVarP(&r.quiet, name, "q", false, "")
	case "replicas":
		f.IntVar(&r.replicas, name, -1, "")
	case "secret-type":
		f.StringVar(&r.secretType, "type", "", "")
	case "selector":
		f.StringVarP(&r.selector, name, "l", "", "")
	case "timeout":
		f.StringVar(new(string), name, "", "")
	case "minify", "raw":
		f.BoolVar(&none, name, false, "")
	case "verbs":
		f.StringSliceVar(&r.verbs, name, nil, "")
	}
}

// flagNames returns the flags of the command for an error message.
func (r *runner) flagNames() []string {
	var names []string
	r.flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(ignored, f.Name) {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// currentNamespace returns the namespace of the call.
func (r *runner) currentNamespace() string { return cmp.Or(r.namespace, r.Namespace, "default") }

func (r *runner) changed(flag string) bool { return r.flags.Changed(flag) }

// isDryRun reports whether the call must not change anything.
func (r *runner) isDryRun() (bool, error) {
	switch r.dryRun {
	case "none", "":
		return false, nil
	case "client":
		return true, nil
	case "server":
		return false, errors.New("--dry-run=server is not available in hook tests")
	}
	return false, fmt.Errorf("invalid dry-run value (%s). Must be \"none\", \"server\", or \"client\"", r.dryRun)
}

// propagation returns the deletion propagation for --cascade.
func (r *runner) propagation() (metav1.DeletionPropagation, error) {
	switch r.cascade {
	case "background", "true":
		return metav1.DeletePropagationBackground, nil
	case "foreground":
		return metav1.DeletePropagationForeground, nil
	case "orphan", "false":
		return metav1.DeletePropagationOrphan, nil
	}
	return "", fmt.Errorf("invalid cascade value (%s). Must be \"background\", \"foreground\", or \"orphan\"", r.cascade)
}
