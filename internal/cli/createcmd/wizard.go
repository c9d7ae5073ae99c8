package createcmd

import (
	"fmt"
	"slices"

	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// wizard prompts for the flags that a command line lacks.
type wizard struct {
	app     *command.App
	domain  string // of the project's API groups
	cmd     *cobra.Command
	group   func(string) error // checks the API group
	answers []string           // answers as flags, for the equivalent command line
}

// names prompts for the group, version and kind that are not set.
func (w *wizard) names(r *project.Resource) error {
	for _, q := range []struct {
		flag, question, preset string
		value                  *string
		valid                  func(string) error
	}{
		{"group", "API group without the domain " + w.domain + " (optional)?", "", &r.Group, w.group},
		{"version", "API version?", "v1", &r.Version, project.CheckVersion},
		{"kind", "Kind in PascalCase, such as Frigate?", "", &r.Kind, project.CheckKind},
	} {
		if w.cmd.Flags().Changed(q.flag) {
			continue
		}
		answer, err := w.app.Prompt.Input(w.cmd.Context(), q.question, q.preset, q.valid)
		if err != nil {
			return err
		}
		*q.value = answer
		w.answers = append(w.answers, q.flag+"="+answer)
	}
	return nil
}

// confirm prompts for a boolean flag that is not set.
func (w *wizard) confirm(flag, question string, value *bool) error {
	if w.cmd.Flags().Changed(flag) {
		return nil
	}
	answer, err := w.app.Prompt.Confirm(w.cmd.Context(), question, *value)
	if err != nil {
		return err
	}
	*value = answer
	w.answers = append(w.answers, fmt.Sprintf("%s=%t", flag, answer))
	return nil
}

// choice is a boolean flag with its name in a prompt.
type choice struct {
	name, flag string
	value      *bool
}

// choose prompts once for the boolean flags that are not set.
func (w *wizard) choose(question string, all []choice) error {
	all = slices.DeleteFunc(all, func(c choice) bool { return w.cmd.Flags().Changed(c.flag) })
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	if len(names) == 0 {
		return nil
	}
	chosen, err := w.app.Prompt.MultiSelect(w.cmd.Context(), question, names)
	if err != nil {
		return err
	}
	for _, c := range all {
		*c.value = slices.Contains(chosen, c.name)
		w.answers = append(w.answers, fmt.Sprintf("%s=%t", c.flag, *c.value))
	}
	return nil
}

// show prints the equivalent command line without prompts.
func (w *wizard) show() {
	if len(w.answers) == 0 {
		return
	}
	words := command.ChangedFlags(w.cmd)
	for _, flag := range w.answers {
		words = append(words, "--"+flag)
	}
	w.app.Notef("equivalent command: %s %s", w.cmd.CommandPath(), shellquote.Join(words...))
}

// checkNamed returns an error if the version or the kind is missing.
func checkNamed(r project.Resource) error {
	switch {
	case r.Version == "":
		return fault.Usage("add --version, for example --version v1 (valid: v1, v1beta1, v2alpha1, ...)", "no version given")
	case r.Kind == "":
		return fault.Usage("add --kind, for example --kind Frigate (valid: a name in PascalCase)", "no kind given")
	}
	return nil
}
