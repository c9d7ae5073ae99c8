package createcmd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// createWebhook holds the flags of `operon create webhook`.
type createWebhook struct {
	creation
	webhooks project.Webhooks
}

func newCreateWebhook(a *command.App) *cobra.Command {
	o := &createWebhook{}
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Add defaulting, validating or conversion webhooks",
		Long: `Add webhooks to a kind of the project, to a built-in Kubernetes kind or to a kind
of another module: Go code, tests that call it through an API server, and the wiring in main.go, the
kustomizations, cert-manager and the network policy. Existing webhooks of the
kind stay unchanged.

With --conversion, the given version becomes the hub: operon adds functions that
convert the other versions to and from it. They map each field that both
versions have, and come with a test that fails if a conversion loses a field.`,
		Example: `  # Set defaults, and validate what the schema cannot express
  operon create webhook --group ship --version v1 --kind Frigate --defaulting --programmatic-validation

  # Convert between v1 and v2, which is the hub
  operon create webhook --group ship --version v2 --kind Frigate --conversion --spoke v1

  # Set defaults in all pods of the cluster
  operon create webhook --group core --version v1 --kind Pod --defaulting`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&o.resource.Group, "group", "", "API group without the domain, or a group of Kubernetes, such as apps")
	f.StringVar(&o.resource.Version, "version", "", "API version, such as v1 or v1alpha1")
	f.StringVar(&o.resource.Kind, "kind", "", "API kind in PascalCase, such as Frigate")
	f.StringVar(&o.resource.Plural, "plural", "", "plural in lower case, for kinds of other modules (default: the regular English plural)")
	f.BoolVar(&o.webhooks.Defaulting, "defaulting", false, "set defaults in objects that are created or updated")
	f.BoolVar(&o.webhooks.Validation, "programmatic-validation", false, "validate objects that are created or updated")
	f.BoolVar(&o.webhooks.Conversion, "conversion", false, "convert other versions to and from this one, the hub")
	f.StringSliceVar(&o.webhooks.Spoke, "spoke", nil, "versions to convert to and from the hub (default: all other versions of the kind)")
	f.StringVar(&o.webhooks.DefaultingPath, "defaulting-path", "", "URL path of the defaulting webhook (default: derived from the kind)")
	f.StringVar(&o.webhooks.ValidationPath, "validation-path", "", "URL path of the validation webhook (default: derived from the kind)")
	o.external.bind(cmd)
	f.BoolVar(&o.make, "make", true, "generate the webhook configuration afterwards")
	f.BoolVar(&o.Force, "force", false, "replace files that differ; the old content is kept in .operon/journal")
	o.Bind(cmd)
	o.options = command.BindPluginFlags(cmd, a.Layouts.All(), plugin.CreateWebhook)
	completeWebhook(a, cmd)
	return cmd
}

func (o *createWebhook) run(a *command.App) error {
	if err := o.checkValues(); err != nil {
		return err
	}
	var err error
	if o.project, err = a.OpenProject(); err != nil {
		return err
	}
	if a.HasHooks(o.project.Config) {
		return fault.Usage("use operon create hook NAME with --validate, --mutate or --convert", "the webhooks of this project are hooks")
	}
	if err := o.ask(a); err != nil {
		return err
	}
	if err := o.checkCombination(); err != nil {
		return err
	}
	err = o.create(a, plugin.CreateWebhook, func(ctx context.Context, s command.Project) (whole, added project.Resource, err error) {
		whole, err = o.complete(ctx, a, s)
		added = whole
		added.Webhooks = &o.webhooks
		return whole, added, err
	})
	if err != nil || o.DryRun {
		return err
	}
	a.NextStep("fill in the functions in internal/webhook, then make test")
	return nil
}

// ask prompts for missing flags if a person can answer.
func (o *createWebhook) ask(a *command.App) error {
	w, err := o.wizard(a)
	if w == nil || err != nil {
		return err
	}
	if !o.webhooks.Defaulting && !o.webhooks.Validation && !o.webhooks.Conversion {
		for _, q := range []struct {
			flag, question string
			value          *bool
		}{
			{"defaulting", "Add a defaulting webhook?", &o.webhooks.Defaulting},
			{"programmatic-validation", "Add a validating webhook?", &o.webhooks.Validation},
			{"conversion", "Add conversion between this version and the others?", &o.webhooks.Conversion},
		} {
			if err := w.confirm(q.flag, q.question, q.value); err != nil {
				return err
			}
		}
	}
	w.show()
	return nil
}

// checkValues validates each flag by itself, before any prompt.
func (o *createWebhook) checkValues() error {
	checks := []error{
		o.external.check(),
		project.CheckGroup(o.resource.Group),
		project.CheckWebhookPath("defaulting-path", o.webhooks.DefaultingPath),
		project.CheckWebhookPath("validation-path", o.webhooks.ValidationPath),
	}
	if o.resource.Version != "" {
		checks = append(checks, project.CheckVersion(o.resource.Version))
	}
	if o.resource.Kind != "" {
		checks = append(checks, project.CheckKind(o.resource.Kind))
	}
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkCombination validates the combination of flags.
func (o *createWebhook) checkCombination() error {
	w := o.webhooks
	switch {
	case !w.Defaulting && !w.Validation && !w.Conversion:
		return fault.Usage("add one or more of --defaulting, --programmatic-validation and --conversion", "no webhook type given")
	case w.DefaultingPath != "" && !w.Defaulting:
		return fault.Usage("add --defaulting", "--defaulting-path without a defaulting webhook")
	case w.ValidationPath != "" && !w.Validation:
		return fault.Usage("add --programmatic-validation", "--validation-path without a validation webhook")
	case len(w.Spoke) > 0 && !w.Conversion:
		return fault.Usage("add --conversion", "--spoke without a conversion webhook")
	case w.Conversion && o.external.isSet():
		return fault.Usage("remove --conversion", "cannot add conversion to types of another module")
	}
	return nil
}

// complete returns the resource with its existing and new webhooks, and reduces
// o.webhooks to the new ones.
func (o *createWebhook) complete(ctx context.Context, a *command.App, s command.Project) (project.Resource, error) {
	r := o.resource
	if old := s.Config.Find(r.Group, r.Version, r.Kind); old != nil {
		if err := o.external.checkConflicts(*old); err != nil {
			return r, err
		}
		if r.Plural != "" && r.Plural != old.PluralName() {
			return r, fault.Usage("remove --plural", "%s %s exists with the plural %q", old.Version, old.Kind, old.PluralName())
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
	var versions, kinds []string
	for _, have := range cfg.Resources {
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
	if near := fault.Nearest(r.Kind, kinds); near != "" {
		return fault.Usage("did you mean --kind "+near+"?", "group %s has no kind %s in this project", cmp.Or(r.Group, `""`), r.Kind)
	}
	return nil
}

// checkConflicts rejects a path that differs from that of an existing webhook, because
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
