package createcmd

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// wizard completes the flags of a command from a person's answers.
type wizard struct {
	app    *command.App
	domain string // of the project's API groups
	cmd    *cobra.Command
	asked  []string // flags whose values are answers, for the equivalent command line
}

// names asks for those of group, version and kind that were not given.
func (w *wizard) names(r *project.Resource) error {
	for _, q := range []struct {
		flag, question, preset string
		value                  *string
		valid                  func(string) error
	}{
		{"group", "API group, without the domain " + w.domain + " (may be empty)?", "", &r.Group, project.CheckGroup},
		{"version", "API version?", "v1", &r.Version, project.CheckVersion},
		{"kind", "Kind, in PascalCase?", "", &r.Kind, project.CheckKind},
	} {
		if w.cmd.Flags().Changed(q.flag) {
			continue
		}
		answer, err := w.app.Prompt.Input(w.cmd.Context(), q.question, q.preset, q.valid)
		if err != nil {
			return err
		}
		*q.value = answer
		w.asked = append(w.asked, q.flag+"="+answer)
	}
	return nil
}

// confirm asks for the value of a switch that was not given.
func (w *wizard) confirm(flag, question string, value *bool) error {
	if w.cmd.Flags().Changed(flag) {
		return nil
	}
	answer, err := w.app.Prompt.Confirm(w.cmd.Context(), question, *value)
	if err != nil {
		return err
	}
	*value = answer
	w.asked = append(w.asked, fmt.Sprintf("%s=%t", flag, answer))
	return nil
}

// show prints the command line that needs no answers.
func (w *wizard) show() {
	if len(w.asked) == 0 {
		return
	}
	words := append([]string{w.cmd.CommandPath()}, command.ChangedFlags(w.cmd)...)
	for _, flag := range w.asked {
		words = append(words, "--"+flag)
	}
	w.app.Notef("the same without questions: %s", strings.Join(words, " "))
}

// checkNamed says which of version and kind is missing that nobody can be asked
// for.
func checkNamed(r project.Resource) error {
	switch {
	case r.Version == "":
		return fault.Usage("add --version, for example --version v1 (valid: v1, v1beta1, v2alpha1, ...)", "no version given")
	case r.Kind == "":
		return fault.Usage("add --kind, for example --kind Frigate (valid: a name in PascalCase)", "no kind given")
	}
	return nil
}
