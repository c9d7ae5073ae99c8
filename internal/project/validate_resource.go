package project

import (
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"golang.org/x/mod/module"
)

// ValidateResource checks everything about r that can be known before anything
// is written: its names, that they fit the project's layout, and that they
// clash with nothing that the project has. A resource of the same group,
// version and kind in the project is r's former state, and no clash.
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
		checks = append(checks, CheckPlural(r.Plural))
	}
	if r.API != nil {
		// A plural that the rule makes of a long kind is checked as well.
		checks = append(checks, CheckPlural(r.PluralName()))
		if r.API.CRDVersion != "" {
			checks = append(checks, CheckCRDVersion(r.API.CRDVersion))
		}
	}
	for i, ctl := range r.Controllers {
		checks = append(checks, checkController(ctl.Name, func(guess string) string {
			return "write name: " + guess + " below controllers in PROJECT"
		}))
		if slices.Contains(r.Controllers[:i], ctl) {
			checks = append(checks, fault.Usage("take one of the two out of PROJECT", "kind %s has the controller %q already", r.Kind, ctl.Name))
		}
	}
	checks = append(checks, r.checkReconcilers())
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	if r.Path != "" && module.CheckImportPath(r.Path) != nil {
		return fault.Usage("correct path of the resource in PROJECT", "path %q of kind %s is not a Go import path", r.Path, r.Kind)
	}
	if (r.External || r.Core) && r.Path == "" {
		return fault.Usage("add path to the resource in PROJECT", "the Go import path of kind %s is missing", r.Kind)
	}
	return nil
}

// checkReconcilers refuses controllers of r that come to the same Go type, or to
// types that differ in case only, as their tests' names would.
func (r Resource) checkReconcilers() error {
	names := r.ControllerNames()
	for i, name := range names {
		for _, other := range names[:i] {
			if name != other && strings.EqualFold(r.Reconciler(name), r.Reconciler(other)) {
				return fault.Usage("give another --controller-name", "controller name %q: %s has the Go type %s already, for its controller %s",
					name, r.Kind, r.Reconciler(other), other)
			}
		}
	}
	return nil
}

// checkGroupFits checks the full group, and the group as a part of paths.
func (c *Config) checkGroupFits(r Resource) error {
	full := r.QualifiedGroup()
	if r.Core {
		return nil
	}
	if full == "" {
		return fault.Usage("give --group, or a domain in PROJECT", "kind %s has neither a group nor a domain", r.Kind)
	}
	if c.Find(r.Group, r.Version, r.Kind) == nil && r.Domain != "" && strings.HasSuffix("."+r.Group, "."+r.Domain) {
		hint := "leave --group out: then the group is the domain itself"
		if short, ok := strings.CutSuffix(r.Group, "."+r.Domain); ok {
			hint = "use --group " + short
		}
		return fault.Usage(hint, "group %q ends with the domain, which would stand twice in %s", r.Group, full)
	}
	if r.API == nil {
		return nil
	}
	if len(full) > maxSubdomain-len(r.PluralName())-1 {
		return fault.Usage("choose shorter names", "%s.%s, the name of the CRD, has more than %d characters", r.PluralName(), full, maxSubdomain)
	}
	// Kubernetes: "should be a domain with at least one dot".
	if !strings.Contains(full, ".") {
		return fault.Usage("give --group, or a domain such as example.org in PROJECT", "API group %q has no dot, which a CRD's group needs", full)
	}
	if first, _, _ := strings.Cut(full, "."); reservedOnWindows(first) {
		return fault.Usage("choose another --group", "group %q makes files whose names Windows reserves: %s_%s.yaml", full, full, r.PluralName())
	}
	if c.MultiGroup && slices.Contains([]string{"internal", "vendor", "testdata"}, r.Group) {
		return fault.Usage("choose another --group", "group %q cannot be a folder of Go packages: the go command treats that name in its own way", r.Group)
	}
	return nil
}

// CheckFileName checks a name that files are called by: what is called so.
func CheckFileName(what, s string) error {
	if reservedOnWindows(s) {
		return fault.Usage("choose another name", "%s %q makes files whose names Windows reserves", what, s)
	}
	return nil
}

// reservedOnWindows reports a device name, which no file's name may be up to
// its first dot.
func reservedOnWindows(name string) bool {
	switch name = strings.ToLower(name); name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")) && '1' <= name[3] && name[3] <= '9'
}

// checkWebhooks checks values that only PROJECT can hold, so the hints name its
// keys.
func (c *Config) checkWebhooks(r Resource) error {
	w := r.Webhooks
	if w == nil {
		return nil
	}
	// Else a webhook could keep people from removing it (Kubernetes, "Dynamic
	// Admission Control").
	if r.Core && r.Group == "admissionregistration" {
		return fault.Usage("choose another kind", "no webhook is called for objects of group %s, such as %s", r.QualifiedGroup(), r.Kind)
	}
	if w.WebhookVersion != "" {
		if err := checkV1("write webhookVersion: v1 "+belowWebhooks, w.WebhookVersion, "webhook"); err != nil {
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
		return fault.Usage("choose another for one of them", "webhook path %s is asked for twice", paths[0])
	}
	if slices.Contains(paths, conversionPath) {
		return fault.Usage("choose another path", "webhook path %s is that of conversion", conversionPath)
	}
	for i, v := range w.Spoke {
		switch {
		case slices.Contains(w.Spoke[:i], v):
			return fault.Usage("name it once below spoke in PROJECT", "spoke version %s is given twice", v)
		case v == r.Version:
			return fault.Usage("name other versions only below spoke in PROJECT", "version %s is the hub and cannot be a spoke of itself", v)
		case c.Find(r.Group, v, r.Kind) == nil:
			return fault.Usage("create it first: "+CreateVersion(r, v), "kind %s has no version %s to be a spoke", r.Kind, v)
		}
	}
	return nil
}

// conversionPath is where controller-runtime serves the conversion of all kinds.
const conversionPath = "/convert"

const belowWebhooks = "below webhooks in PROJECT"

// checkWebhookPath checks the URL path of one webhook, whose key in PROJECT is
// that of the webhook with "Path" behind it.
func checkWebhookPath(r Resource, key, path string, on bool) error {
	switch {
	case path == "":
	case !on:
		return fault.Usage("add "+key+": true "+belowWebhooks+", or take "+key+"Path out",
			"kind %s has the %sPath %s without that webhook", r.Kind, key, path)
	case !isURLPath(path):
		return fault.Usage("write "+key+"Path: /"+strings.Trim(path, "/ ")+" "+belowWebhooks,
			"webhook path %q is not the path of a URL that starts with /", path)
	}
	return nil
}

// CheckWebhookPath checks the URL path of a webhook, given by flag. It may be
// empty: then the webhook has the path of the rule.
func CheckWebhookPath(flag, path string) error {
	if path == "" || isURLPath(path) {
		return nil
	}
	return fault.Usage(tryFlag(flag, "/"+strings.Trim(path, "/ "), urlPath, "use letters, digits and - . _ ~ between slashes"),
		"webhook path %q is not the path of a URL that starts with /", path)
}

// urlPath is a path (RFC 3986, section 3.3) of unreserved characters: it stands
// in a marker, in Go code and in a URL without quotes.
var urlPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

func isURLPath(path string) bool {
	return urlPath.MatchString(path) && !strings.Contains(path+"/", "/../") && !strings.Contains(path+"/", "/./")
}

// CreateVersion is the command that adds a version to the kind of r.
func CreateVersion(r Resource, version string) string {
	command := "operon create api"
	if r.Group != "" {
		command += " --group " + r.Group
	}
	return command + " --version " + version + " --kind " + r.Kind + " --controller=false"
}
