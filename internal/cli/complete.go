package cli

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// Completion answers from PROJECT alone and swallows its errors: a person who
// presses TAB wants values or silence.

// completeValues offers a fixed list for a flag.
func completeValues(cmd *cobra.Command, flag string, values ...string) {
	must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// completeList offers a fixed list for a flag that takes several values,
// separated by commas: those that are not there yet.
func completeList(cmd *cobra.Command, flag string, values ...string) {
	must(cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return missingOf(values, typed)
	}))
}

// missingOf offers those values that the typed list lacks.
func missingOf(values []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	head := typed[:strings.LastIndex(typed, ",")+1]
	var offers []cobra.Completion
	for _, v := range values {
		if !slices.Contains(strings.Split(head, ","), v) {
			offers = append(offers, head+v)
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// offer completes a list with the values that follow from PROJECT.
func (a *App) offer(values func(*project.Config) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		cfg, err := a.readConfig()
		if err != nil {
			cfg = &project.Config{}
		}
		return missingOf(values(cfg), typed)
	}
}

// completeLayouts offers the layout keys with what they are for.
func completeLayouts(a *App, cmd *cobra.Command) {
	var values []cobra.Completion
	for _, l := range a.Layouts {
		values = append(values, cobra.CompletionWithDesc(l.Key, l.Doc()))
	}
	must(cmd.RegisterFlagCompletionFunc("plugins", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// completeAPI offers the kinds that there are, and what plugins offer.
func completeAPI(a *App, cmd *cobra.Command) {
	for _, p := range a.Layouts.All() {
		for _, opt := range p.Options() {
			switch _, flag := opt.Default.(bool); {
			case flag || !slices.Contains(opt.Events, plugin.CreateAPI):
			case opt.Offer != nil:
				must(cmd.RegisterFlagCompletionFunc(opt.Name, a.offer(opt.Offer)))
			case len(opt.Values) == 0:
				must(cmd.RegisterFlagCompletionFunc(opt.Name, cobra.NoFileCompletions))
			}
		}
	}
	completeValues(cmd, "crd-version", "v1")
	must(cmd.RegisterFlagCompletionFunc("controller-name", cobra.NoFileCompletions))
	completeResource(a, cmd)
}

// completeWebhook offers them too, and the other versions of the kind as spokes.
func completeWebhook(a *App, cmd *cobra.Command) {
	completeResource(a, cmd)
	given := givenText(cmd)
	must(cmd.RegisterFlagCompletionFunc("spoke", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.resourceFields(func(r project.Resource) string {
			if r.Group != given("group") || r.Kind != given("kind") || r.Version == given("version") {
				return ""
			}
			return r.Version
		}), cobra.ShellCompDirectiveNoFileComp
	}))
	for _, flag := range []string{"defaulting-path", "validation-path"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// givenText returns what the command line says so far for a flag.
func givenText(cmd *cobra.Command) func(flag string) string {
	return func(flag string) string { return cmd.Flags().Lookup(flag).Value.String() }
}

// completeResource offers the group, version and kind of what the project has,
// and of Kubernetes where the command takes types of others: each of them such
// that it goes with what is given of the others.
func completeResource(a *App, cmd *cobra.Command) {
	given := givenText(cmd)
	fields := map[string]func(project.Resource) string{
		"group":   func(r project.Resource) string { return r.Group },
		"version": func(r project.Resource) string { return r.Version },
		"kind":    func(r project.Resource) string { return r.Kind },
	}
	for name, field := range fields {
		must(cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var values []cobra.Completion
			for _, r := range a.knownKinds(cmd) {
				fits := !slices.Contains(values, field(r)) && field(r) != ""
				for other, field := range fields {
					fits = fits && (other == name || given(other) == "" || given(other) == field(r))
				}
				if fits {
					values = append(values, field(r))
				}
			}
			if name == "version" && len(values) == 0 {
				values = []cobra.Completion{"v1", "v1alpha1", "v1beta1"}
			}
			return values, cobra.ShellCompDirectiveNoFileComp
		}))
	}
	for _, flag := range []string{"plural", "external-api-path", "external-api-domain", "external-api-module"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// knownKinds are the kinds that cmd may name: those of PROJECT, if there is one,
// and then those of Kubernetes, unless the command is to write the types.
func (a *App) knownKinds(cmd *cobra.Command) []project.Resource {
	cfg, err := a.readConfig()
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

// resourceFields returns one field of every resource in PROJECT, without
// repetition and blanks.
func (a *App) resourceFields(field func(project.Resource) string) []cobra.Completion {
	cfg, err := a.readConfig()
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

// must panics on errors that only a mistake in this package can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
