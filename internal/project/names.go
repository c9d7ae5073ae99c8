package project

import (
	"cmp"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"github.com/operon-dev/operon/internal/fault"
)

// QualifiedGroup is the API group as the cluster knows it: group and domain,
// either of which may be empty. Kubernetes' first group has no name; PROJECT
// calls it core.
func (r Resource) QualifiedGroup() string {
	if r.Core && r.Group == "core" {
		return ""
	}
	return strings.Trim(r.Group+"."+r.Domain, ".")
}

// Lower is the kind in lower case: the singular name of the resource, and part
// of file names.
func (r Resource) Lower() string { return strings.ToLower(r.Kind) }

// PluralName is the resource's name in URLs, in RBAC rules and in the name of
// the CRD: the recorded one, else kubebuilder's rule.
func (r Resource) PluralName() string {
	if r.Plural != "" {
		return r.Plural
	}
	return r.regularPlural()
}

// peerPlural pluralises the kind as kubebuilder does, in lower case first. What
// PROJECT leaves out, kubebuilder fills in like this; for some words (dns,
// https) it comes to no name at all.
func (r Resource) peerPlural() string { return flect.Pluralize(r.Lower()) }

// regularPlural is peerPlural, and where that is no name, the word with one "s"
// at its end: as the same rule treats nfs and aws.
func (r Resource) regularPlural() string {
	if plural := r.peerPlural(); dns1035Label.MatchString(plural) {
		return plural
	}
	return strings.TrimSuffix(r.Lower(), "s") + "s"
}

// PathMarkerNeeded reports that controller-gen, which pluralises the kind first
// and takes the lower case of that, would come to another plural than
// PluralName. Then the types need +kubebuilder:resource:path=.
func (r Resource) PathMarkerNeeded() bool {
	return r.PluralName() != strings.ToLower(flect.Pluralize(r.Kind))
}

// ImportAlias is the name that Go files import r's types by: group and version
// without punctuation ("shipv1"), the domain for an empty group. Names that are
// no identifier ("3scale"), that scaffolded files use for another package, or
// that webhook packages have, get the prefix "api".
func (r Resource) ImportAlias() string {
	group := cmp.Or(r.Group, r.Domain)
	if k, ok := r.Builtin(); ok {
		group = path.Base(path.Dir(k.Path)) // rbacv1, as everybody writes it
	}
	alias := strings.ToLower(alphanumeric(group + r.Version))
	if !token.IsIdentifier(alias) || alias == "metav1" || strings.HasPrefix(alias, "webhook") {
		return "api" + alias
	}
	return alias
}

// reservedVarNames are the lower-case names that scaffolded code uses in functions which
// also have a variable for the object.
var reservedVarNames = []string{
	"admission", "after", "apierrors", "b", "before", "builder", "c", "cfg", "changed", "clean", "client", "config", "context", "controller", "controllerutil", "ctrl", "ctx",
	"d", "equality", "err", "errors", "errs", "fake", "field", "fmt", "foo", "got", "list", "log", "logf", "message", "meta", "metav1",
	"mgr", "obj", "ok", "os", "own", "patch", "predicate", "r", "ready", "reason", "reconcile", "record", "recorder", "reported", "req", "request", "res", "result", "runtime",
	"sample", "schema", "scheme", "status", "t", "testing", "time", "types", "unwritten", "utils", "v", "want", "was",
}

// VarName is a name for a variable that holds an object of the kind: the kind
// in lower case ("frigate"), with "Obj" behind it when that is a Go keyword, a
// predeclared identifier, or taken by the code around it ("typeObj").
func (r Resource) VarName() string {
	name := r.Lower()
	if token.IsKeyword(name) || types.Universe.Lookup(name) != nil || slices.Contains(reservedVarNames, name) || name == r.ImportAlias() {
		return name + "Obj"
	}
	return name
}

// Reconciler is the Go type of r's controller of that name: for the one named
// after the kind FrigateReconciler, for frigate-backup FrigateBackupReconciler.
func (r Resource) Reconciler(controller string) string {
	if controller == r.Lower() {
		return r.Kind + "Reconciler"
	}
	return pascal(controller) + "Reconciler"
}

// WebhookSetup is the Go function that registers r's webhooks with the manager.
func (r Resource) WebhookSetup() string { return "Setup" + r.Kind + "WebhookWithManager" }

// ControllerName is what the manager, its logs and its metrics call r's
// controller of that name: the same, after the group where there may be several.
func (c *Config) ControllerName(r Resource, controller string) string {
	words := c.KindWords(r)
	words[len(words)-1] = controller
	return strings.Join(words, "-")
}

// reconcilers are the types of r's controllers, in r's controller package.
func (r Resource) reconcilers() []string {
	var names []string
	for _, name := range r.ControllerNames() {
		names = append(names, r.Reconciler(name))
	}
	return names
}

// DefaultingPath is the URL path of r's defaulting webhook: the recorded one, else
// that of controller-runtime's rule, /mutate-ship-example-org-v1-frigate.
func (r Resource) DefaultingPath() string {
	if r.Webhooks != nil && r.Webhooks.DefaultingPath != "" {
		return r.Webhooks.DefaultingPath
	}
	return r.rulePath("mutate")
}

// ValidationPath is the URL path of r's validation webhook: the recorded one,
// else that of controller-runtime's rule, /validate-ship-example-org-v1-frigate.
func (r Resource) ValidationPath() string {
	if r.Webhooks != nil && r.Webhooks.ValidationPath != "" {
		return r.Webhooks.ValidationPath
	}
	return r.rulePath("validate")
}

func (r Resource) rulePath(verb string) string {
	return "/" + verb + "-" + strings.ReplaceAll(r.QualifiedGroup(), ".", "-") + "-" + r.Version + "-" + r.Lower()
}

// webhookPaths are the URL paths of the webhooks that r has.
func (r Resource) webhookPaths() []string {
	var paths []string
	if r.Webhooks.Defaulting {
		paths = append(paths, r.DefaultingPath())
	}
	if r.Webhooks.Validation {
		paths = append(paths, r.ValidationPath())
	}
	return paths
}

// alphanumeric drops everything but ASCII letters and digits.
func alphanumeric(s string) string {
	return strings.Map(func(r rune) rune {
		if isLetter(r) || isDigit(r) {
			return r
		}
		return -1
	}, s)
}

// pascal joins the words of s, each with a capital: "foo-bar" becomes "FooBar".
func pascal(s string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !isLetter(r) && !isDigit(r) }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// hookName is a name of hooks: a DNS label, so that it fits into names of webhooks.
var hookName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// CheckHookName checks the name of a hook.
func CheckHookName(s string) error {
	switch {
	case s == "":
		return fault.Usage("such as operon create hook secret-copier", "the name of the hook is missing")
	case !hookName.MatchString(s):
		hint := "use lower-case letters, digits and '-'"
		stem, _, _ := strings.Cut(path.Base(s), ".")
		if guess := strings.ToLower(strings.ReplaceAll(stem, "_", "-")); hookName.MatchString(guess) {
			hint = "try " + guess
		}
		return fault.Usage(hint, "hook name %q is not a DNS label (RFC 1123)", s)
	}
	return CheckFileName("hook name", s)
}
