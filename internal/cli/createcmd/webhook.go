package createcmd

import (
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
	resourceCreation
	webhooks project.Webhooks
}

func newCreateWebhook(a *command.App) *cobra.Command {
	o := &createWebhook{}
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Add defaulting, validating or conversion webhooks",
		Long: `Add webhooks to a kind of the project, to a built-in Kubernetes kind or to a
kind of another module: Go code, tests that call it through an API server, and
the wiring in main.go, the kustomizations, cert-manager and the network policy.
Existing webhooks of the kind stay unchanged.

With --conversion, the given version becomes the hub: operon adds functions that
convert the other versions to and from it. They map each field that both
versions have, and come with a test that fails if a conversion loses a field.`,
		Example: `  # Set defaults, and validate what the schema cannot express
  operon create webhook --group ship --version v1 --kind Frigate --defaulting \
    --programmatic-validation

  # Convert between v1 and v2, which is the hub
  operon create webhook --group ship --version v2 --kind Frigate --conversion \
    --spoke v1

  # Set defaults in all pods of the cluster
  operon create webhook --group core --version v1 --kind Pod --defaulting`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.bind(a, cmd, plugin.CreateWebhook, "the webhook configuration")
	o.bindResource("API group without the domain, or a group of Kubernetes, such as apps",
		"plural in lower case, for kinds of other modules (default: the regular English plural)")
	f := cmd.Flags()
	f.BoolVar(&o.webhooks.Defaulting, "defaulting", false, "set defaults in objects that are created or updated")
	f.BoolVar(&o.webhooks.Validation, "programmatic-validation", false, "validate objects that are created or updated")
	f.BoolVar(&o.webhooks.Conversion, "conversion", false, "convert other versions to and from this one, the hub")
	f.StringSliceVar(&o.webhooks.Spoke, "spoke", nil, "versions to convert to and from the hub (default: all other versions of the kind)")
	f.StringVar(&o.webhooks.DefaultingPath, "defaulting-path", "", "URL path of the defaulting webhook (default: derived from the kind)")
	f.StringVar(&o.webhooks.ValidationPath, "validation-path", "", "URL path of the validation webhook (default: derived from the kind)")
	completeWebhook(a, cmd)
	command.GroupFlags(cmd, "Other flags",
		command.FlagGroup{Title: "The kind", Flags: []string{"group", "version", "kind", "plural"}},
		command.FlagGroup{Title: "Its webhooks", Flags: []string{
			"defaulting", "programmatic-validation", "conversion", "spoke", "defaulting-path", "validation-path",
		}},
		command.FlagGroup{Title: "A kind of another module", Flags: externalFlagNames},
	)
	return cmd
}

func (o *createWebhook) run(a *command.App) error {
	if err := o.checkFlags(
		project.CheckWebhookPath("defaulting-path", o.webhooks.DefaultingPath),
		project.CheckWebhookPath("validation-path", o.webhooks.ValidationPath),
	); err != nil {
		return err
	}
	var err error
	if o.project, err = a.OpenProject(); err != nil {
		return err
	}
	if o.called, err = a.Catalogue.ResolveCall(o.plugins, o.project.Config, false); err != nil {
		return err
	}
	if a.HasHooks(o.project.Config) {
		return fault.Usage("use operon create hook NAME with --validate, --mutate or --convert", "the webhooks of this project are hooks")
	}
	if a.HasCharts(o.project.Config) {
		return fault.Usage("validate values with values.schema.json, or write the operator in Go", "helm-operator has no webhooks")
	}
	if err := o.ask(a); err != nil {
		return err
	}
	if err := o.checkCombination(); err != nil {
		return err
	}
	err = a.ChangeProject(o.cmd, o.project, o.WriteFlags, func(ctx context.Context, s command.Project) error {
		whole, err := o.complete(ctx, a, s)
		if err != nil {
			return err
		}
		added := whole
		added.Webhooks = &o.webhooks
		return o.sendResource(ctx, a, s, plugin.CreateWebhook, whole, added)
	})
	if err != nil {
		return err
	}
	a.NextStep("fill in the functions in internal/webhook, then make test")
	return nil
}

// ask prompts for missing flags if a person can answer.
func (o *createWebhook) ask(a *command.App) error {
	chosen, err := o.choose(a)
	if err != nil {
		return err
	}
	w, ok, err := o.wizard(a, o.checkGroup)
	if !ok || err != nil {
		return err
	}
	w.answers = append(chosen, w.answers...)
	if !o.webhooks.Defaulting && !o.webhooks.Validation && !o.webhooks.Conversion {
		if err := w.choose("Which webhooks for "+o.resource.Kind+"?", []choice{
			{"defaulting", "defaulting", &o.webhooks.Defaulting},
			{"validation", "programmatic-validation", &o.webhooks.Validation},
			{"conversion", "conversion", &o.webhooks.Conversion},
		}); err != nil {
			return err
		}
	}
	w.show()
	return nil
}

// otherKind is the choice of a kind that the project does not have.
const otherKind = "a kind of Kubernetes"

// choose selects the kind of the project that gets the webhooks, if a person can answer: the only one that the flags
// allow, or one of several. It returns the choice as flags.
func (o *createWebhook) choose(a *command.App) (flags []string, err error) {
	r := &o.resource
	if a.Prompt == nil || checkNamed(*r) == nil || o.external.isSet() {
		return nil, nil
	}
	set := o.cmd.Flags().Changed
	kinds := map[string]project.Resource{}
	var names []string
	for _, k := range o.project.Config.Resources {
		if k.API == nil && !k.HasExternalTypes() ||
			set("group") && k.Group != r.Group || set("version") && k.Version != r.Version || set("kind") && k.Kind != r.Kind {
			continue
		}
		name := strings.TrimPrefix(k.Group+"/"+k.Version+" "+k.Kind, "/")
		kinds[name], names = k, append(names, name)
	}
	if len(names) == 0 {
		return nil, nil // the questions of create api
	}
	name := names[0]
	if len(names) > 1 {
		if name, err = a.Prompt.Select(o.cmd.Context(), "Which kind?", append(names, otherKind), name); err != nil || name == otherKind {
			return nil, err
		}
	}
	k := kinds[name]
	for flag, value := range map[string]string{"group": k.Group, "version": k.Version, "kind": k.Kind} {
		if !set(flag) {
			flags = append(flags, flag+"="+value)
		}
	}
	slices.Sort(flags)
	r.Group, r.Version, r.Kind = k.Group, k.Version, k.Kind
	return flags, nil
}

// checkGroup returns an error if neither the project nor Kubernetes has kinds in an API group.
func (o *createWebhook) checkGroup(group string) error {
	inGroup := func(r project.Resource) bool { return r.Group == group }
	if slices.ContainsFunc(o.project.Config.Resources, inGroup) || project.IsCoreGroup(group) || o.external.isSet() {
		return project.CheckGroup(group)
	}
	return fault.Usage("run operon create api first", "neither the project nor Kubernetes has kinds in the group %q", group)
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
