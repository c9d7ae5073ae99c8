package project

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"golang.org/x/mod/module"
)

// ValidateResource checks the names of r, the rules of the project's layout, and collisions
// with other resources of the project. A resource of the project with the same group,
// version and kind is the previous state of r and does not collide.
func (c *Config) ValidateResource(r Resource) error {
	for _, check := range []func(Resource) error{
		c.checkNames, c.checkGroupFits, c.checkWebhooks, c.checkCollisions,
	} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

// checkNames checks the values of r one by one.
func (c *Config) checkNames(r Resource) error {
	checks := []error{CheckGroup(r.Group), CheckDomain(r.Domain), CheckVersion(r.Version), CheckKind(r.Kind)}
	if r.Plural != "" {
		checks = append(checks, checkPlural(r.Plural))
	}
	if r.API != nil {
		// A derived plural can be too long.
		checks = append(checks, checkPlural(r.PluralName()))
		if r.API.CRDVersion != "" {
			checks = append(checks, CheckCRDVersion(r.API.CRDVersion))
		}
	}
	for _, ctl := range r.Controllers {
		checks = append(checks, checkController(ctl.Name, func(guess string) string {
			return "write name: " + guess + " in controllers in PROJECT"
		}))
	}
	checks = append(checks, r.checkReconcilers())
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	if err := r.checkPath(); err != nil {
		return err
	}
	if (r.External || r.Core) && r.Path == "" {
		return fault.Usage("add the key path to the resource in PROJECT", "the Go import path of kind %s is missing", r.Kind)
	}
	return nil
}

// validateForm checks the values of a resource in PROJECT that become part of paths, names and
// code. It accepts what kubebuilder accepts, such as a version that Kubernetes cannot order:
// ValidateResource has the rules for what operon writes.
func (r Resource) validateForm() error {
	for _, check := range []struct {
		value string
		valid func(string) bool
		err   func(string) error
	}{
		{r.Group, isDNS1123Subdomain, CheckGroup},
		{r.Domain, isDNS1123Subdomain, CheckDomain},
		{strings.Trim(r.Version, "_"), isDNS1123Subdomain, CheckVersion},
		{r.Kind, isPascalCase, CheckKind},
		{r.Plural, isDNS1035Label, checkPlural},
	} {
		if check.value != "" && !check.valid(check.value) {
			return check.err(check.value)
		}
	}
	for _, controller := range r.Controllers {
		if !isDNS1035Label(controller.Name) {
			return CheckControllerName(controller.Name)
		}
	}
	if err := r.checkReconcilers(); err != nil {
		return err
	}
	if err := r.checkWebhookForm(); err != nil {
		return err
	}
	return r.checkPath()
}

// checkWebhookForm checks the values of webhooks that become part of code.
func (r Resource) checkWebhookForm() error {
	if r.Webhooks == nil {
		return nil
	}
	for _, path := range []string{r.Webhooks.DefaultingPath, r.Webhooks.ValidationPath} {
		if path != "" && !isURLPath(path) {
			return fault.Usage("use letters, digits and - . _ ~ between slashes", "webhook path %q of kind %s is not a URL path that starts with /", path, r.Kind)
		}
	}
	for _, spoke := range r.Webhooks.Spoke {
		if !isDNS1123Subdomain(strings.Trim(spoke, "_")) {
			return CheckVersion(spoke)
		}
	}
	return nil
}

// checkPath checks the import path of the types.
func (r Resource) checkPath() error {
	const hint = "correct the path of the resource in PROJECT"
	if r.Path != "" && module.CheckImportPath(r.Path) != nil {
		return fault.Usage(hint, "path %q of kind %s is not a Go import path", r.Path, r.Kind)
	}
	for folder := range strings.SplitSeq(r.Path, "/") {
		if strings.HasPrefix(folder, ".") {
			return fault.Usage(hint, "path %q of kind %s has the hidden folder %s", r.Path, r.Kind, folder)
		}
	}
	return nil
}

// checkReconcilers rejects two controllers of r whose Go types have the same name or differ
// only in case.
func (r Resource) checkReconcilers() error {
	for i, ctl := range r.Controllers {
		if slices.Contains(r.Controllers[:i], ctl) {
			return fault.Usage("remove one of them from PROJECT", "kind %s has the controller %q twice", r.Kind, ctl.Name)
		}
	}
	names := r.ControllerNames()
	for i, name := range names {
		for _, other := range names[:i] {
			if name != other && strings.EqualFold(r.Reconciler(name), r.Reconciler(other)) {
				return fault.Usage("use another --controller-name", "controller name %q: %s already has the Go type %s, for its controller %s",
					name, r.Kind, r.Reconciler(other), other)
			}
		}
	}
	return nil
}

// checkGroupFits checks the full group, and the group as part of paths.
func (c *Config) checkGroupFits(r Resource) error {
	full := r.QualifiedGroup()
	if r.Core {
		return nil
	}
	if full == "" {
		return fault.Usage("add --group, or the line `domain: example.org` to PROJECT", "kind %s has neither a group nor a domain", r.Kind)
	}
	if c.Find(r.Group, r.Version, r.Kind) == nil && r.Domain != "" && strings.HasSuffix("."+r.Group, "."+r.Domain) {
		hint := "omit --group: then the domain is the group"
		if short, ok := strings.CutSuffix(r.Group, "."+r.Domain); ok {
			hint = "use --group " + short
		}
		return fault.Usage(hint, "group %q ends with the domain, so the full group would be %s", r.Group, full)
	}
	if r.API == nil {
		return nil
	}
	if len(full) > maxSubdomain-len(r.PluralName())-1 {
		return fault.Usage("choose shorter names", "%s.%s, the name of the CRD, has more than %d characters", r.PluralName(), full, maxSubdomain)
	}
	if !strings.Contains(full, ".") { // the API server rejects the CRD
		hint := "add the line `domain: example.org` to PROJECT"
		if r.Domain != "" {
			hint = "add --group, or write a domain with a dot in PROJECT, such as `domain: example.org`"
		}
		return fault.Usage(hint, "API group %q has no dot, but the group of a CRD needs one", full)
	}
	if first, _, _ := strings.Cut(full, "."); reservedOnWindows(first) {
		return fault.Usage("choose another --group", "group %q results in a file name that Windows reserves: %s_%s.yaml", full, full, r.PluralName())
	}
	if c.MultiGroup && slices.Contains([]string{"internal", "vendor", "testdata"}, r.Group) {
		return fault.Usage("choose another --group", "group %q cannot be the name of a folder: it has a special meaning for the go command", r.Group)
	}
	return nil
}

// CheckFileName checks a name that becomes part of file names. what is its description, such
// as "hook name".
func CheckFileName(what, s string) error {
	if reservedOnWindows(s) {
		return fault.Usage("choose another name", "%s %q results in a file name that Windows reserves", what, s)
	}
	return nil
}

// reservedOnWindows reports whether a device on Windows has the name. A file name
// must not be such a name up to its first dot.
func reservedOnWindows(name string) bool {
	switch name = strings.ToLower(name); name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")) && '1' <= name[3] && name[3] <= '9'
}

// checkWebhooks checks the webhooks of r. Invalid values can come only from PROJECT, so the
// hints name its keys.
func (c *Config) checkWebhooks(r Resource) error {
	w := r.Webhooks
	if w == nil {
		return nil
	}
	// The API server does not call webhooks for these objects: otherwise a webhook could
	// prevent its own removal.
	if r.Core && r.Group == "admissionregistration" {
		return fault.Usage("choose another kind", "the API server calls no webhooks for objects of group %s, such as %s", r.QualifiedGroup(), r.Kind)
	}
	if w.WebhookVersion != "" {
		if err := checkV1("write webhookVersion: v1 "+inWebhooks, w.WebhookVersion, "webhook"); err != nil {
			return err
		}
	}
	if err := checkWebhookPath(r, "defaulting", w.DefaultingPath, w.Defaulting); err != nil {
		return err
	}
	if err := checkWebhookPath(r, "validation", w.ValidationPath, w.Validation); err != nil {
		return err
	}
	paths := r.webhookPaths()
	if len(paths) == 2 && paths[0] == paths[1] {
		return fault.Usage("choose another path for one of them", "both webhooks have the path %s", paths[0])
	}
	if slices.Contains(paths, conversionPath) {
		return fault.Usage("choose another path", "webhook path %s is reserved for conversion", conversionPath)
	}
	for i, v := range w.Spoke {
		switch {
		case slices.Contains(w.Spoke[:i], v):
			return fault.Usage("remove one of them from spoke in PROJECT", "duplicate spoke version %s", v)
		case v == r.Version:
			return fault.Usage("remove it from spoke in PROJECT", "version %s is the hub and cannot be a spoke of itself", v)
		case c.Find(r.Group, v, r.Kind) == nil:
			return fault.Usage("create it first: "+CreateVersion(r, v), "kind %s has no version %s to use as a spoke", r.Kind, v)
		}
	}
	return nil
}

// conversionPath is the URL path of controller-runtime's conversion webhook for all kinds.
const conversionPath = "/convert"

const inWebhooks = "in webhooks in PROJECT"

// checkWebhookPath checks the URL path of one webhook. The key of the path in PROJECT is the
// key of the webhook with the suffix "Path".
func checkWebhookPath(r Resource, key, path string, on bool) error {
	switch {
	case path == "":
	case !on:
		return fault.Usage("add "+key+": true "+inWebhooks+", or remove "+key+"Path",
			"kind %s has the %sPath %s, but no %s webhook", r.Kind, key, path, key)
	case !isURLPath(path):
		return fault.Usage("write "+key+"Path: /"+strings.Trim(path, "/ ")+" "+inWebhooks,
			"webhook path %q is not a URL path that starts with /", path)
	}
	return nil
}

// CheckWebhookPath checks the URL path of a webhook in the named flag. It may be empty: then
// the webhook has the default path.
func CheckWebhookPath(flag, path string) error {
	if path == "" || isURLPath(path) {
		return nil
	}
	return fault.Usage(tryFlag(flag, "/"+strings.Trim(path, "/ "), isURLPath, "use letters, digits and - . _ ~ between slashes"),
		"webhook path %q is not a URL path that starts with /", path)
}

// hasUnreservedSegments matches a path of unreserved characters (RFC 3986, section 3.3),
// which needs no quotes in a marker, in Go code and in a URL.
var hasUnreservedSegments = pattern(`^(/[A-Za-z0-9._~-]+)+$`)

func isURLPath(path string) bool {
	return hasUnreservedSegments(path) && !strings.Contains(path+"/", "/../") && !strings.Contains(path+"/", "/./")
}

// CreateVersion returns the command that adds a version to the kind of r.
func CreateVersion(r Resource, version string) string {
	command := "operon create api"
	if r.Group != "" {
		command += " --group " + r.Group
	}
	return command + " --version " + version + " --kind " + r.Kind + " --controller=false"
}
