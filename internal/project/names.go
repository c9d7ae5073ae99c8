package project

import (
	"cmp"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// QualifiedGroup returns the full API group: group and domain, each of which may be
// empty. The core group of Kubernetes is "".
func (r Resource) QualifiedGroup() string {
	if r.Core && r.Group == "core" {
		return ""
	}
	return strings.Trim(r.Group+"."+r.Domain, ".")
}

// Lower returns the kind in lower case: the singular name of the resource, which is also
// part of file names.
func (r Resource) Lower() string { return strings.ToLower(r.Kind) }

// A name takes "an" if it starts with a letter whose name has a vowel sound, or with a vowel, unless that sounds like "you"
// or "one".
var (
	takesAn = lazyregexp.New(`^([AEFHILMNORSX]([A-Z0-9]|$)|[AEIOU][a-z]|Hour|Honest|Honor|Heir)`)
	takesA  = lazyregexp.New(`^(Eu|Uni([^dmn]|$)|Us[ae]|Ut[ei]|Ur[lio]|Uu|One)`)
)

// Article returns "a" or "an", as the kind is usually pronounced.
func (r Resource) Article() string {
	if takesAn().MatchString(r.Kind) && !takesA().MatchString(r.Kind) {
		return "an"
	}
	return "a"
}

// PluralName returns the plural name of the resource: the recorded one, or the result of
// kubebuilder's rule.
func (r Resource) PluralName() string {
	if r.Plural != "" {
		return r.Plural
	}
	return r.regularPlural()
}

// IsOwnFile reports whether a file belongs to the resource alone: its name contains the name of the kind, its
// plural or a controller as words.
func (r Resource) IsOwnFile(name string) bool {
	words := func(s string) string { return "_" + strings.NewReplacer("-", "_", ".", "_").Replace(s) + "_" }
	return slices.ContainsFunc(append(r.ControllerNames(), r.Lower(), r.PluralName()), func(own string) bool {
		return strings.Contains(words(path.Base(name)), words(own))
	})
}

// DoubtfulPlural reports whether the plural of the kind follows a rule of English that may not apply to
// the name of a program: podinfoes, redises.
func (r Resource) DoubtfulPlural() bool {
	return r.Plural == "" && r.PluralName() != r.Lower()+"s" && !strings.HasSuffix(r.Lower(), "y")
}

// peerPlural returns the plural that kubebuilder derives if PROJECT has none: the plural of
// the kind in lower case. For some words (dns, https) it is not a valid name.
func (r Resource) peerPlural() string { return flect.Pluralize(r.Lower()) }

// regularPlural returns peerPlural, or if that is not a valid name, the kind with one
// "s" at its end, as the rule does for nfs and aws.
func (r Resource) regularPlural() string {
	if plural := r.peerPlural(); isDNS1035Label(plural) {
		return plural
	}
	return strings.TrimSuffix(r.Lower(), "s") + "s"
}

// PathMarkerNeeded reports whether the types need +kubebuilder:resource:path=, because
// controller-gen would derive another plural than PluralName.
func (r Resource) PathMarkerNeeded() bool {
	return r.PluralName() != strings.ToLower(flect.Pluralize(r.Kind))
}

// ImportAlias returns the name under which Go files import r's types: group and version
// without punctuation ("shipv1"), or the domain for an empty group. A name that is not
// an identifier ("3scale") or that scaffolded files use for another package gets the
// prefix "api".
func (r Resource) ImportAlias() string {
	group := cmp.Or(r.Group, r.Domain)
	if k, ok := r.Builtin(); ok {
		group = path.Base(path.Dir(k.Path)) // rbacv1, the usual name
	}
	alias := strings.ToLower(alphanumeric(group + r.Version))
	if !token.IsIdentifier(alias) || alias == "metav1" || strings.HasPrefix(alias, "webhook") {
		return "api" + alias
	}
	return alias
}

// reservedVarNames are names that scaffolded functions use beside the variable for the
// object.
var reservedVarNames = []string{
	"admission", "after", "apierrors", "b", "before", "builder", "c", "cfg", "changed", "clean", "client", "config",
	"context", "controller", "controllerutil", "ctrl", "ctx",
	"d", "equality", "err", "errors", "errs", "fake", "field", "fmt", "foo", "got", "list", "log", "logf", "message", "meta", "metav1",
	"mgr", "obj", "ok", "os", "own", "patch", "predicate", "r", "ready", "reason", "reconcile", "record", "recorder",
	"reported", "req", "request", "res", "result", "runtime",
	"sample", "schema", "scheme", "status", "t", "testing", "time", "types", "unwritten", "utils", "v", "want", "was",
}

// VarName returns the name of a variable for an object of the kind: the kind in lower
// case ("frigate"), with the suffix "Obj" if it is a keyword, predeclared or reserved.
func (r Resource) VarName() string {
	name := r.Lower()
	if token.IsKeyword(name) || types.Universe.Lookup(name) != nil || slices.Contains(reservedVarNames, name) || name == r.ImportAlias() {
		return name + "Obj"
	}
	return name
}

// Reconciler returns the Go type of r's controller of that name: FrigateReconciler for
// frigate, FrigateBackupReconciler for frigate-backup.
func (r Resource) Reconciler(controller string) string {
	if controller == r.Lower() {
		return r.Kind + "Reconciler"
	}
	return pascal(controller) + "Reconciler"
}

// WebhookSetup returns the name of the Go function that registers r's webhooks with the manager.
func (r Resource) WebhookSetup() string { return "Setup" + r.Kind + "WebhookWithManager" }

// ControllerName returns the name of r's controller in the manager, in logs and in
// metrics. With multigroup it starts with the group.
func (c *Config) ControllerName(r Resource, controller string) string {
	words := c.KindWords(r)
	words[len(words)-1] = controller
	return strings.Join(words, "-")
}

// reconcilers returns the Go types of r's controllers.
func (r Resource) reconcilers() []string {
	var names []string
	for _, name := range r.ControllerNames() {
		names = append(names, r.Reconciler(name))
	}
	return names
}

// DefaultingPath returns the URL path of r's defaulting webhook: the recorded one, or
// the default of controller-runtime, /mutate-ship-example-org-v1-frigate.
func (r Resource) DefaultingPath() string {
	if r.Webhooks != nil && r.Webhooks.DefaultingPath != "" {
		return r.Webhooks.DefaultingPath
	}
	return r.rulePath("mutate")
}

// ValidationPath returns the URL path of r's validation webhook: the recorded one, or
// the default of controller-runtime, /validate-ship-example-org-v1-frigate.
func (r Resource) ValidationPath() string {
	if r.Webhooks != nil && r.Webhooks.ValidationPath != "" {
		return r.Webhooks.ValidationPath
	}
	return r.rulePath("validate")
}

func (r Resource) rulePath(verb string) string {
	return "/" + verb + "-" + strings.ReplaceAll(r.QualifiedGroup(), ".", "-") + "-" + r.Version + "-" + r.Lower()
}

// webhookPaths returns the URL paths of r's admission webhooks.
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

// alphanumeric removes all characters except ASCII letters and digits.
func alphanumeric(s string) string {
	return strings.Map(func(r rune) rune {
		if isLetter(r) || isDigit(r) {
			return r
		}
		return -1
	}, s)
}

// KindName returns the kind for a name of words, such as a chart's: "foo-bar" becomes "FooBar".
func KindName(s string) string { return pascal(s) }

// pascal converts s to PascalCase: "foo-bar" becomes "FooBar".
func pascal(s string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !isLetter(r) && !isDigit(r) }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// CheckHookName validates the name of a hook. It is a DNS label, because names of webhooks
// contain it.
func CheckHookName(s string) error {
	switch {
	case s == "":
		return fault.Usage("add one: operon create hook secret-copier", "the name of the hook is missing")
	case !isHookName(s):
		hint := "use lower-case letters, digits and '-'"
		stem, _, _ := strings.Cut(path.Base(s), ".")
		if guess := strings.ToLower(strings.ReplaceAll(stem, "_", "-")); isHookName(guess) {
			hint = "try " + guess
		}
		return fault.Usage(hint, "hook name %q is not a DNS label (RFC 1123)", s)
	}
	return CheckFileName("hook name", s)
}

func isHookName(s string) bool { return len(s) <= maxLabel && isDNS1123Label(s) }
