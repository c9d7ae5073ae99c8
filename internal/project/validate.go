package project

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"golang.org/x/mod/module"
)

// The forms of single values. Names in the cluster follow RFC 1123 and RFC 1035 as
// Kubernetes applies them: lower case only. The length is checked separately.
var (
	isDNS1123Label     = pattern(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	isDNS1035Label     = pattern(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	isDNS1123Subdomain = pattern(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	isAPIVersion       = pattern(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	isPascalCase       = pattern(`^[A-Z][A-Za-z0-9]*$`)
)

// pattern returns a function that matches a regular expression.
func pattern(expr string) func(string) bool {
	compiled := lazyregexp.New(expr)
	return func(s string) bool { return compiled().MatchString(s) }
}

const (
	maxLabel     = 63  // RFC 1123, one label
	maxSubdomain = 253 // RFC 1123, the whole name

	// longestSuffix is the suffix of the longest generated name that starts with the
	// project's name. It is the name of a Service, which is a DNS label.
	longestSuffix = "-controller-manager-metrics-service"
	maxName       = maxLabel - len(longestSuffix)
)

// Validate checks the values that belong to the whole project. ValidateResource checks a
// single resource. The repo may be empty, for a project without Go.
func (c *Config) Validate() error {
	if c.Version != SchemaVersion {
		return fault.Usage("omit --project-version, or use "+SchemaVersion, "project version %q is not supported", c.Version)
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
	if err := c.checkWebhookCerts(); err != nil {
		return err
	}
	for i, r := range c.Resources {
		if err := r.validateForm(); err != nil {
			return err
		}
		if err := checkDuplicate(r, c.Resources[:i]); err != nil {
			return err
		}
	}
	return nil
}

// checkDuplicate rejects a resource that is one of the others, or differs from one only in the
// case of the kind: both would have the same files.
func checkDuplicate(r Resource, others []Resource) error {
	for _, o := range others {
		switch {
		case r.SameVersion(o):
			return fault.Usage("remove one of them", "the resource %s/%s %s occurs twice", r.QualifiedGroup(), r.Version, r.Kind)
		case r.QualifiedGroup() == o.QualifiedGroup() && r.Kind != o.Kind && r.Lower() == o.Lower():
			return fault.Usage("remove one of them", "the kinds %s and %s in group %s differ only in case", o.Kind, r.Kind, orEmpty(r.QualifiedGroup()))
		}
	}
	return nil
}

// CheckDomain checks the suffix of the API groups. It may be empty.
func CheckDomain(s string) error {
	if s == "" || len(s) <= maxSubdomain && isDNS1123Subdomain(s) {
		return nil
	}
	return fault.Usage(tryFlag("domain", strings.ToLower(s), isDNS1123Subdomain, "use lower-case letters, digits, '-' and '.', as in example.org"),
		"domain %q is not a DNS subdomain (RFC 1123)", s)
}

// CheckName checks the name of a new project. It is the prefix of the names of the
// project's objects in a cluster.
func CheckName(s string) error {
	if err := checkNameForm(s); err != nil {
		return err
	}
	if len(s) > maxName {
		return fault.Usage("choose a shorter one with --project-name",
			"project name %q has %d characters; the limit is %d, because %s%s must be a DNS label of at most %d",
			s, len(s), maxName, s, longestSuffix, maxLabel)
	}
	return nil
}

// checkNameForm checks the form and not the length: a project that another tool
// initialized may use shorter suffixes.
func checkNameForm(s string) error {
	switch {
	case s == "":
		return fault.Usage("add --project-name my-operator", "the project name is missing")
	case !isDNS1123Label(s):
		return fault.Usage(tryFlag("project-name", DefaultName(s), isDNS1123Label, "use lower-case letters, digits and '-'"),
			"project name %q is not a DNS label (RFC 1123)", s)
	}
	return nil
}

// CheckRepo checks a Go module path as the go command does for the main module. Unlike the
// path of a module to download, it needs no dot in its first element.
func CheckRepo(s string) error {
	const hint = "use a module path such as --repo github.com/acme/my-operator"
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
		return fault.Usage("omit the suffix, or use /v2 or later",
			"repo %q is not a Go module path: a major version suffix is /v2 or later, in digits", s)
	}
	words := strings.Split(s, "/")
	switch {
	case s[0] == '~' || s[0] == '+': // cmd/go/internal/load.SafeArg
		return fault.Usage(hint, "repo %q is not a Go module path: the go command does not build packages whose path starts with %q", s, s[0])
	case slices.Contains(words, "vendor"):
		return fault.Usage(hint, "repo %q is not a Go module path: packages in a folder with the name vendor cannot be imported", s)
	case slices.Contains([]string{"cmd", "go", "std", "toolchain"}, words[0]):
		return fault.Usage(hint, "repo %q is not a Go module path: %q is reserved for the go command", s, words[0])
	}
	return nil
}

// tryFlag returns the hint "try --flag guess" if the guess is valid, and otherwise the hint
// rule.
func tryFlag(flag, guess string, isValid func(string) bool, rule string) string {
	if isValid(guess) && len(guess) <= maxLabel {
		return "try --" + flag + " " + guess
	}
	return rule
}
