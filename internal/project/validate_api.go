package project

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/operon-dev/operon/internal/fault"
)

// CheckGroup checks an API group without its domain. It may be empty.
func CheckGroup(s string) error {
	if s == "" {
		return nil
	}
	if group, version, ok := strings.Cut(s, "/"); ok && CheckGroup(group) == nil && CheckVersion(version) == nil {
		return fault.Usage("use --group "+group+" --version "+version, "group %q contains a version", s)
	}
	if len(s) > maxSubdomain || !isDNS1123Subdomain(s) {
		return fault.Usage(tryFlag("group", strings.ToLower(s), isDNS1123Subdomain, "use lower-case letters, digits, '-' and '.', as in ship"),
			"group %q is not a DNS subdomain (RFC 1123)", s)
	}
	words := strings.Split(s, ".")
	for i, word := range words {
		if !isAPIVersion(word) {
			continue
		}
		rest := strings.Join(slices.Delete(words, i, i+1), ".")
		hint := "use --version " + word
		if rest != "" {
			hint = "use --group " + rest + " --version " + word
		}
		return fault.Usage(hint, "group %q contains a version", s)
	}
	return nil
}

// CheckVersion checks an API version: v1, v1alpha1, v2beta3. Kubernetes orders
// only versions of this form by maturity.
func CheckVersion(s string) error {
	if isAPIVersion(s) && len(s) <= maxLabel {
		return nil
	}
	hint := "use a version such as v1, v1alpha1 or v2beta1"
	if s == "" {
		return fault.Usage(hint, "the version is missing")
	}
	guess := "v" + strings.TrimLeft(strings.ToLower(alphanumeric(s)), "v")
	for _, v := range []string{guess, guess + "1"} {
		if isAPIVersion(v) && len(v) <= maxLabel && !strings.Contains(s, ".") {
			hint = "try --version " + v
			break
		}
	}
	return fault.Usage(hint, "version %q is not of the form v1, v1alpha1 or v1beta1", s)
}

// CheckKind checks a kind: the name of a Go type in PascalCase. In lower case, it must be a
// DNS label.
func CheckKind(s string) error {
	if s == "" {
		return fault.Usage("add one: --kind Frigate", "the kind is missing")
	}
	if !isPascalCase(s) {
		name := path.Base(s)
		guess := pascal(name)
		if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || r == '.' }) {
			guess = "" // without these letters it would be another word, and the name of a file is none
		}
		return fault.Usage(tryFlag("kind", guess, isPascalCase, "start with a capital, and use ASCII letters and digits only"),
			"kind %q is not a Go identifier in PascalCase", s)
	}
	if limit := maxLabel - len("List"); len(s) > limit {
		return fault.Usage("choose a shorter one", "kind %q has %d characters; the limit is %d, because %sList must be a DNS label of at most %d",
			s, len(s), limit, s, maxLabel)
	}
	// client-go adds a cluster-scoped kind List to every group version that it discovers
	// (restmapper.NewDiscoveryRESTMapper). It would hide the project's kind.
	if s == "List" {
		return fault.Usage("choose another kind", "kind %q is reserved: clients add a cluster-scoped kind List to every API group", s)
	}
	if slices.Contains(reservedKinds, s) {
		return fault.Usage("choose another kind", "kind %q is reserved: every API package uses this name for something else", s)
	}
	return nil
}

// reservedKinds are the names of variables in packages of types, and the kinds that
// apimachinery registers in every group version (metav1.AddToGroupVersion). A scheme
// rejects a second type for a kind.
var reservedKinds = []string{
	"AddToScheme", "GroupVersion", "SchemeBuilder", "SchemeGroupVersion",
	"CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent",
}

// checkPlural checks the plural that names a resource in URLs.
func checkPlural(s string) error {
	if len(s) <= maxLabel && isDNS1035Label(s) {
		return nil
	}
	return fault.Usage(tryFlag("plural", strings.ToLower(alphanumeric(s)), isDNS1035Label, "start with a letter, and use lower-case letters, digits and '-'"),
		"plural %q is not a DNS label (RFC 1035)", s)
}

// CheckControllerName checks the value of --controller-name.
func CheckControllerName(s string) error {
	return checkController(s, func(guess string) string { return "try --controller-name " + guess })
}

// checkController checks the name of a controller. try returns the hint for a valid name
// that is similar.
func checkController(s string, try func(guess string) string) error {
	if len(s) <= maxLabel && isDNS1035Label(s) {
		return nil
	}
	guess := strings.ToLower(strings.ReplaceAll(s, "_", "-"))
	hint := "start with a letter, and use lower-case letters, digits and '-'"
	if isDNS1035Label(guess) && len(guess) <= maxLabel {
		hint = try(guess)
	}
	return fault.Usage(hint, "controller name %q is not a DNS label (RFC 1035)", s)
}

// CheckCRDVersion checks the version of the CustomResourceDefinition API.
func CheckCRDVersion(s string) error { return checkV1("use --crd-version v1", s, "CRD") }

// checkV1 checks the version of apiextensions.k8s.io or
// admissionregistration.k8s.io. The same release removed v1beta1 of both.
func checkV1(hint, s, what string) error {
	switch s {
	case "v1":
		return nil
	case "v1beta1":
		return fault.Usage(hint, "%s version v1beta1 was removed in Kubernetes 1.22", what)
	}
	return fault.Usage(hint, "%s version %q does not exist", what, s)
}
