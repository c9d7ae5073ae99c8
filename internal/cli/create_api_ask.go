package cli

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// ask completes the flags from a person's answers, where there is one.
func (o *createAPI) ask(a *App) error {
	if a.Prompt == nil {
		return o.required()
	}
	cfg, err := a.readConfig()
	if err != nil {
		return err
	}
	if o.required() != nil {
		if err := o.askNames(a, cfg); err != nil {
			return err
		}
	}
	for _, q := range []struct {
		flag, question string
		value          *bool
	}{
		{"resource", "Write the API types?", &o.api},
		{"controller", "Write a controller?", &o.controller},
	} {
		if o.cmd.Flags().Changed(q.flag) {
			continue
		}
		answer, err := a.Prompt.Confirm(o.cmd.Context(), q.question, *q.value)
		if err != nil {
			return err
		}
		*q.value = answer
		o.asked = append(o.asked, fmt.Sprintf("%s=%t", q.flag, answer))
	}
	o.showCommand(a)
	return nil
}

// askNames asks for those of group, version and kind that were not given.
func (o *createAPI) askNames(a *App, cfg *project.Config) error {
	for _, q := range []struct {
		flag, question, preset string
		value                  *string
		valid                  func(string) error
	}{
		{"group", "API group, without the domain " + cfg.Domain + " (may be empty)?", "", &o.resource.Group, project.CheckGroup},
		{"version", "API version?", "v1", &o.resource.Version, project.CheckVersion},
		{"kind", "Kind, in PascalCase?", "", &o.resource.Kind, project.CheckKind},
	} {
		if o.cmd.Flags().Changed(q.flag) {
			continue
		}
		answer, err := a.Prompt.Input(o.cmd.Context(), q.question, q.preset, q.valid)
		if err != nil {
			return err
		}
		*q.value = answer
		o.asked = append(o.asked, q.flag+"="+answer)
	}
	return nil
}

// required says which flag is missing that nobody can be asked for.
func (o *createAPI) required() error {
	switch {
	case o.resource.Version == "":
		return fault.Usage("add --version, for example --version v1 (valid: v1, v1beta1, v2alpha1, ...)", "no version given")
	case o.resource.Kind == "":
		return fault.Usage("add --kind, for example --kind Frigate (valid: a name in PascalCase)", "no kind given")
	}
	return nil
}

// showCommand prints the command line that needs no answers.
func (o *createAPI) showCommand(a *App) {
	if len(o.asked) == 0 {
		return
	}
	words := append([]string{o.cmd.CommandPath()}, givenFlags(o.cmd)...)
	for _, flag := range o.asked {
		words = append(words, "--"+flag)
	}
	a.note("the same without questions: %s", strings.Join(words, " "))
}
