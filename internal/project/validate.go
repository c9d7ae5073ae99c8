package project

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/operon-dev/operon/internal/fault"
	"golang.org/x/mod/module"
)

// The rules for single values. Names in the cluster follow RFC 1123 and RFC
// 1035 as Kubernetes reads them: lower case only, and a length per label.
var (
	dns1123Label     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	dns1035Label     = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	dns1123Subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	apiVersion       = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	pascalCase       = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

const (
	maxLabel     = 63  // RFC 1123, one label
	maxSubdomain = 253 // RFC 1123, the whole name

	// longestSuffix is what the longest generated name of a Service, which is a
	// DNS label, has behind the project's name.
	longestSuffix = "-controller-manager-metrics-service"
	maxName       = maxLabel - len(longestSuffix)
)

// Validate checks the values that belong to the project as a whole, before
// anything is written. The repo may be empty, for a project without Go; what
// one resource must keep to is the business of ValidateResource.
func (c *Config) Validate() error {
	if c.Version != SchemaVersion {
		return fault.Usage("leave out --project-version, or give "+SchemaVersion, "project version %q is not supported", c.Version)
	}
	if err := CheckDomain(c.Domain); err != nil {
		return err
	}
	if err := checkNameForm(c.ProjectName); err != nil {
		return err
	}
	if c.Repo != "" {
		if err := CheckRepo(c.Repo); err != nil {
			return err
		}
	}
	for i, r := range c.Resources {
		if slices.ContainsFunc(c.Resources[:i], r.SameVersion) {
			return fault.Usage("remove one of the two from PROJECT", "the resource %s/%s %s stands twice in PROJECT",
				r.QualifiedGroup(), r.Version, r.Kind)
		}
	}
	return nil
}

// CheckDomain checks the suffix of the API groups. It may be empty.
func CheckDomain(s string) error {
	if s == "" || len(s) <= maxSubdomain && dns1123Subdomain.MatchString(s) {
		return nil
	}
	return fault.Usage(tryFlag("domain", strings.ToLower(s), dns1123Subdomain, "use lower-case letters, digits, '-' and '.', as in example.org"),
		"domain %q is not a DNS subdomain (RFC 1123)", s)
}

// CheckName checks the name of a new project, which starts the names of
// everything that the project has in a cluster.
func CheckName(s string) error {
	if err := checkNameForm(s); err != nil {
		return err
	}
	if len(s) > maxName {
		return fault.Usage("choose a shorter one with --project-name",
			"project name %q has %d characters; with more than %d the name %s%s passes the %d of a DNS label",
			s, len(s), maxName, s, longestSuffix, maxLabel)
	}
	return nil
}

// checkNameForm leaves the length out: a project that another tool started may
// have shorter names behind its own.
func checkNameForm(s string) error {
	switch {
	case s == "":
		return fault.Usage("give one: --project-name my-operator", "the project name is missing")
	case !dns1123Label.MatchString(s):
		return fault.Usage(tryFlag("project-name", DefaultName(s), dns1123Label, "use lower-case letters, digits and '-'"),
			"project name %q is not a DNS label (RFC 1123)", s)
	}
	return nil
}

// CheckRepo checks a Go module path as the go command does for the module that
// it works in: one element is enough, unlike for a module to download.
func CheckRepo(s string) error {
	const hint = "give a module path such as --repo github.com/acme/my-operator"
	if s == "" {
		return fault.Usage(hint, "the module path is missing")
	}
	if err := module.CheckImportPath(s); err != nil {
		reason := err.Error()
		if i := strings.LastIndex(reason, `": `); i >= 0 {
			reason = reason[i+len(`": `):]
		}
		return fault.Usage(hint, "repo %q is not a Go module path: %s", s, reason)
	}
	if _, _, ok := module.SplitPathVersion(s); !ok {
		return fault.Usage("leave the suffix out, or use /v2 or later",
			"repo %q is not a Go module path: a major version suffix is /v2 or later, in digits", s)
	}
	words := strings.Split(s, "/")
	switch {
	case s[0] == '~' || s[0] == '+': // cmd/go/internal/load.SafeArg
		return fault.Usage(hint, "repo %q is not a Go module path: the go command builds no package whose path starts with %q", s, s[0])
	case slices.Contains(words, "vendor"):
		return fault.Usage(hint, "repo %q is not a Go module path: packages below a folder named vendor cannot be imported", s)
	case slices.Contains([]string{"cmd", "go", "std", "toolchain"}, words[0]):
		return fault.Usage(hint, "repo %q is not a Go module path: the go command uses %q for itself", s, words[0])
	}
	return nil
}

// CheckGroup checks an API group without its domain. It may be empty.
func CheckGroup(s string) error {
	if s == "" {
		return nil
	}
	if group, version, ok := strings.Cut(s, "/"); ok && CheckGroup(group) == nil && CheckVersion(version) == nil {
		return fault.Usage("use --group "+group+" --version "+version, "group %q holds a version", s)
	}
	if len(s) > maxSubdomain || !dns1123Subdomain.MatchString(s) {
		return fault.Usage(tryFlag("group", strings.ToLower(s), dns1123Subdomain, "use lower-case letters, digits, '-' and '.', as in ship"),
			"group %q is not a DNS subdomain (RFC 1123)", s)
	}
	words := strings.Split(s, ".")
	for i, word := range words {
		if !apiVersion.MatchString(word) {
			continue
		}
		rest := strings.Join(slices.Delete(words, i, i+1), ".")
		hint := "use --version " + word
		if rest != "" {
			hint = "use --group " + rest + " --version " + word
		}
		return fault.Usage(hint, "group %q holds a version", s)
	}
	return nil
}

// CheckVersion checks an API version: v1, v1alpha1, v2beta3. Kubernetes orders
// only versions of this form by maturity.
func CheckVersion(s string) error {
	if apiVersion.MatchString(s) && len(s) <= maxLabel {
		return nil
	}
	hint := "use a version such as v1, v1alpha1 or v2beta1"
	if s == "" {
		return fault.Usage(hint, "the version is missing")
	}
	guess := "v" + strings.TrimLeft(strings.ToLower(alphanumeric(s)), "v")
	for _, v := range []string{guess, guess + "1"} {
		if apiVersion.MatchString(v) && len(v) <= maxLabel && !strings.Contains(s, ".") {
			hint = "try --version " + v
			break
		}
	}
	return fault.Usage(hint, "version %q is not of the form v1, v1alpha1 or v1beta1", s)
}

// CheckKind checks a kind: a Go type in PascalCase whose lower case is a DNS
// label.
func CheckKind(s string) error {
	if s == "" {
		return fault.Usage("give one: --kind Frigate", "the kind is missing")
	}
	if !pascalCase.MatchString(s) {
		guess := pascal(s)
		if strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
			guess = "" // what is left of the word would be another one
		}
		return fault.Usage(tryFlag("kind", guess, pascalCase, "start with a capital, and use ASCII letters and digits only"),
			"kind %q is not a Go identifier in PascalCase", s)
	}
	if most := maxLabel - len("List"); len(s) > most {
		return fault.Usage("choose a shorter one", "kind %q has %d characters; with more than %d the kind %sList passes the %d of a DNS label",
			s, len(s), most, s, maxLabel)
	}
	// client-go adds List to every group version that it discovers, as a kind
	// without namespaces (restmapper.NewDiscoveryRESTMapper), which hides ours.
	if s == "List" {
		return fault.Usage("choose another kind", "kind %q is taken: clients know a kind List, outside of namespaces, in every API group", s)
	}
	if slices.Contains(reservedKinds, s) {
		return fault.Usage("choose another kind", "kind %q is taken: every API package has that name for something else", s)
	}
	return nil
}

// reservedKinds are the names of package variables beside the types, and of the
// kinds that apimachinery registers in every group version
// (metav1.AddToGroupVersion), which the scheme refuses to hold twice.
var reservedKinds = []string{
	"AddToScheme", "GroupVersion", "SchemeBuilder", "SchemeGroupVersion",
	"CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent",
}

// CheckPlural checks the plural that names a resource in URLs.
func CheckPlural(s string) error {
	if len(s) <= maxLabel && dns1035Label.MatchString(s) {
		return nil
	}
	return fault.Usage(tryFlag("plural", strings.ToLower(alphanumeric(s)), dns1035Label, "start with a letter, and use lower-case letters, digits and '-'"),
		"plural %q is not a DNS label (RFC 1035)", s)
}

// CheckControllerName checks the name of one of several controllers of a kind.
func CheckControllerName(s string) error {
	return checkController(s, func(guess string) string { return "try --controller-name " + guess })
}

// checkController checks a controller's name; a better one is put into words
// by try.
func checkController(s string, try func(guess string) string) error {
	if len(s) <= maxLabel && dns1035Label.MatchString(s) {
		return nil
	}
	guess := strings.ToLower(strings.ReplaceAll(s, "_", "-"))
	hint := "start with a letter, and use lower-case letters, digits and '-'"
	if dns1035Label.MatchString(guess) && len(guess) <= maxLabel {
		hint = try(guess)
	}
	return fault.Usage(hint, "controller name %q is not a DNS label (RFC 1035)", s)
}

// CheckCRDVersion checks the version of the CustomResourceDefinition API.
func CheckCRDVersion(s string) error { return checkV1("use --crd-version v1", s, "CRD") }

// checkV1 checks the version of apiextensions.k8s.io or
// admissionregistration.k8s.io; both dropped v1beta1 in the same release.
func checkV1(hint, s, what string) error {
	switch s {
	case "v1":
		return nil
	case "v1beta1":
		return fault.Usage(hint, "%s version v1beta1 was removed in Kubernetes 1.22", what)
	}
	return fault.Usage(hint, "%s version %q does not exist", what, s)
}

// tryFlag is the hint "try --flag guess", or otherwise when the guess is no
// better.
func tryFlag(flag, guess string, rule *regexp.Regexp, otherwise string) string {
	if rule.MatchString(guess) && len(guess) <= maxLabel {
		return "try --" + flag + " " + guess
	}
	return otherwise
}
