package createcmd

import (
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/charts"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// offer completes a list with values from PROJECT.
func offer(a *command.App, values func(*project.Config) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		cfg, err := a.ReadConfig()
		if err != nil {
			cfg = &project.Config{}
		}
		return command.CompleteMissing(values(cfg), typed)
	}
}

// completeAPI completes the flags of create api, with known kinds and the values that
// plugins offer.
func completeAPI(a *command.App, cmd *cobra.Command) {
	for _, p := range a.Catalogue.All() {
		for _, opt := range p.Options() {
			_, flag := opt.Default.(bool)
			switch {
			case flag || !slices.Contains(opt.Events, plugin.CreateAPI), opt.Name == charts.HelmChart: // files
			case opt.Offer != nil:
				command.CompleteFlag(cmd, opt.Name, offer(a, opt.Offer))
			case len(opt.Values) == 0:
				command.CompleteNothing(cmd, opt.Name)
			}
		}
	}
	command.CompleteValues(cmd, "crd-version", "v1")
	command.CompleteNothing(cmd, "controller-name")
	completePlugins(a, cmd, true)
	completeResource(a, cmd)
}

// completeWebhook completes the flags of create webhook. It offers the other versions of
// the kind as spokes.
func completeWebhook(a *command.App, cmd *cobra.Command) {
	completeResource(a, cmd)
	completePlugins(a, cmd, false)
	current := currentText(cmd)
	command.CompleteFlag(cmd, "spoke", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return resourceFields(a, func(r project.Resource) string {
			if r.Group != current("group") || r.Kind != current("kind") || r.Version == current("version") {
				return ""
			}
			return r.Version
		}), cobra.ShellCompDirectiveNoFileComp
	})
	command.CompleteNothing(cmd, "defaulting-path", "validation-path")
}

// completePlugins completes --plugins with the plugins that the command can name in the project.
func completePlugins(a *command.App, cmd *cobra.Command, perCall bool) {
	command.CompleteFlag(cmd, "plugins", offer(a, func(c *project.Config) []string { return a.Catalogue.CallNames(c, perCall) }))
}

// currentText returns a function for the current value of a flag.
func currentText(cmd *cobra.Command) func(flag string) string {
	return func(flag string) string { return cmd.Flags().Lookup(flag).Value.String() }
}

// completeResource completes the group, version and kind with the kinds of the project and, if
// the command accepts external types, of Kubernetes. It offers only values that match the
// other two flags.
func completeResource(a *command.App, cmd *cobra.Command) {
	current := currentText(cmd)
	fields := map[string]func(project.Resource) string{
		"group":   func(r project.Resource) string { return r.Group },
		"version": func(r project.Resource) string { return r.Version },
		"kind":    func(r project.Resource) string { return r.Kind },
	}
	for name, field := range fields {
		command.CompleteFlag(cmd, name, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var values []cobra.Completion
			for _, r := range knownKinds(a, cmd) {
				matches := !slices.Contains(values, field(r)) && field(r) != ""
				for other, field := range fields {
					matches = matches && (other == name || current(other) == "" || current(other) == field(r))
				}
				if matches {
					values = append(values, field(r))
				}
			}
			if name == "version" && len(values) == 0 {
				values = []cobra.Completion{"v1", "v1alpha1", "v1beta1"}
			}
			return values, cobra.ShellCompDirectiveNoFileComp
		})
	}
	command.CompleteNothing(cmd, append([]string{"plural"}, externalFlagNames...)...)
}

// knownKinds returns the kinds in PROJECT and, unless the command adds types, the built-in
// kinds of Kubernetes. Without PROJECT it returns nil.
func knownKinds(a *command.App, cmd *cobra.Command) []project.Resource {
	cfg, err := a.ReadConfig()
	if err != nil {
		return nil
	}
	kinds := slices.Clone(cfg.Resources)
	if f := cmd.Flags().Lookup("resource"); f != nil && f.Value.String() == "true" {
		return kinds
	}
	for _, k := range project.CoreKinds() {
		if k.Stored {
			kinds = append(kinds, k.Resource())
		}
	}
	return kinds
}

// resourceFields returns the distinct non-empty values of a field of the resources in
// PROJECT.
func resourceFields(a *command.App, field func(project.Resource) string) []cobra.Completion {
	cfg, err := a.ReadConfig()
	if err != nil {
		return nil
	}
	var values []cobra.Completion
	for _, r := range cfg.Resources {
		if v := field(r); v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}
