package createcmd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// complete returns the resource with its existing and new webhooks, and reduces
// o.webhooks to the new ones.
func (o *createWebhook) complete(ctx context.Context, a *command.App, s command.Project) (project.Resource, error) {
	r := o.resource
	if old := s.Config.Find(r.Group, r.Version, r.Kind); old != nil {
		if err := o.external.checkConflicts(*old); err != nil {
			return r, err
		}
		if err := o.checkPlural(*old); err != nil {
			return r, err
		}
		r = *old
	} else {
		if err := o.nearMiss(s.Config, r); err != nil {
			return r, err
		}
		var err error
		if r, err = o.external.resolve(ctx, a, s, r); err != nil {
			return r, err
		}
	}
	if !r.HasExternalTypes() && r.API == nil {
		return r, fault.Usage("create the types first: "+project.CreateVersion(r, r.Version),
			"%s %s is not a type of this project, so it cannot have webhooks", r.Version, r.Kind)
	}
	if o.webhooks.Conversion {
		if err := o.completeSpokes(s.Config, r); err != nil {
			return r, err
		}
	}
	have := project.Webhooks{WebhookVersion: "v1"}
	if r.Webhooks != nil {
		have = *r.Webhooks
	}
	if err := o.checkConflicts(r, have); err != nil {
		return r, err
	}
	have.Defaulting = have.Defaulting || o.webhooks.Defaulting
	have.Validation = have.Validation || o.webhooks.Validation
	have.Conversion = have.Conversion || o.webhooks.Conversion
	have.DefaultingPath = cmp.Or(have.DefaultingPath, o.webhooks.DefaultingPath)
	have.ValidationPath = cmp.Or(have.ValidationPath, o.webhooks.ValidationPath)
	o.webhooks.DefaultingPath, o.webhooks.ValidationPath = have.DefaultingPath, have.ValidationPath
	for _, v := range o.webhooks.Spoke {
		if !slices.Contains(have.Spoke, v) {
			have.Spoke = append(slices.Clone(have.Spoke), v)
		}
	}
	o.webhooks.WebhookVersion = have.WebhookVersion
	r.Webhooks = &have
	return r, s.Config.ValidateResource(r)
}

// nearMiss rejects an unknown kind or version that is likely a misspelling of one in the
// project.
func (o *createWebhook) nearMiss(cfg *project.Config, r project.Resource) error {
	if o.external.isSet() {
		return nil
	}
	var versions, kinds, groups []string
	for _, have := range cfg.Resources {
		if have.SameVersion(project.Resource{Group: have.Group, Domain: have.Domain, Version: r.Version, Kind: r.Kind}) && have.API != nil {
			groups = append(groups, have.Group)
		}
		if have.Group != r.Group || have.API == nil {
			continue
		}
		kinds = append(kinds, have.Kind)
		if have.Kind == r.Kind {
			versions = append(versions, have.Version)
		}
	}
	if len(versions) > 0 {
		return fault.Usage("did you mean --version "+strings.Join(versions, " or --version ")+"?",
			"kind %s has no version %s in this project", r.Kind, r.Version)
	}
	if project.HasCoreKind(r.Group, r.Kind) {
		return nil // also in a group of the project with the same name
	}
	if near := fault.Nearest(r.Kind, kinds); near != "" {
		return fault.Usage("did you mean --kind "+near+"?", "group %s has no kind %s in this project", cmp.Or(r.Group, `""`), r.Kind)
	}
	if near := fault.Nearest(r.Group, groups); near != "" {
		return fault.Usage("did you mean --group "+near+"?", "group %s has no kind %s in this project", r.Group, r.Kind)
	}
	if r.Group == "" && len(groups) == 1 {
		return fault.Usage("add --group "+groups[0], "the project has no kind %s without a group", r.Kind)
	}
	return nil
}

// checkConflicts rejects a path that differs from the path of an existing webhook, because
// the path is in a marker in the user's code.
func (o *createWebhook) checkConflicts(r project.Resource, have project.Webhooks) error {
	for _, v := range []struct {
		flag, name, want, have string
		held                   bool
	}{
		{"defaulting-path", "defaulting", o.webhooks.DefaultingPath, have.DefaultingPath, have.Defaulting},
		{"validation-path", "validation", o.webhooks.ValidationPath, have.ValidationPath, have.Validation},
	} {
		if v.held && v.want != "" && v.want != v.have {
			return fault.Usage("remove --"+v.flag+", and change the path by hand in the webhook's marker, in its setup and in "+project.File,
				"kind %s already has a %s webhook, at %s", r.Kind, v.name, cmp.Or(v.have, "the regular path"))
		}
	}
	return nil
}

// completeSpokes validates the spoke versions. The default is all other versions of the
// kind.
func (o *createWebhook) completeSpokes(cfg *project.Config, hub project.Resource) error {
	if hub.HasExternalTypes() {
		return fault.Usage("remove --conversion", "%s is not a type of this project, so it cannot have a conversion webhook", hub.Kind)
	}
	var versions []string
	for _, r := range cfg.Resources {
		switch {
		case !r.SameKind(hub) || r.Version == hub.Version:
			continue
		case r.Webhooks != nil && r.Webhooks.Conversion:
			return fault.Usage("use --version "+r.Version+" --spoke "+hub.Version,
				"version %s of %s is already the hub, and a kind has only one", r.Version, hub.Kind)
		case r.API != nil:
			versions = append(versions, r.Version)
		}
	}
	for i, v := range o.webhooks.Spoke {
		switch {
		case v == hub.Version:
			return fault.Usage("name other versions", "version %s is the hub and cannot be a spoke of itself", v)
		case slices.Contains(o.webhooks.Spoke[:i], v):
			return fault.Usage("name it once", "duplicate spoke version %s", v)
		case !slices.Contains(versions, v):
			return fault.Usage("create it first: "+project.CreateVersion(hub, v), "kind %s has no version %s to use as a spoke", hub.Kind, v)
		}
	}
	if len(o.webhooks.Spoke) == 0 {
		o.webhooks.Spoke = versions
	}
	if len(o.webhooks.Spoke) == 0 {
		return fault.Usage("create one first, for example: "+project.CreateVersion(hub, nextVersion(hub.Version)),
			"kind %s has no version to convert other than %s", hub.Kind, hub.Version)
	}
	return nil
}

// nextVersion returns an example of a version other than v.
func nextVersion(v string) string {
	if v == "v1" {
		return "v2"
	}
	return "v1"
}
