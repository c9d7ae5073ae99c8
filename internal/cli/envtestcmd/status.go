package envtestcmd

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/controlplane"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

// statusFrame is the JSON form of `operon envtest status`.
type statusFrame struct {
	command.Frame
	Items []controlplane.State `json:"items"`
}

func newStatus(a *command.App) *cobra.Command {
	var name, output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "List running control planes",
		Long: `List your control planes and their state: running, starting, failed (a program
keeps exiting) or dead (its supervisor was killed). A failed or dead control
plane stays in the list until start or stop with its name removes its files.

With --name, show only that control plane, and exit with code 1 if it is not
running.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := command.CheckOutput(output); err != nil {
				return err
			}
			named := cmd.Flags().Changed("name")
			if err := controlplane.CheckName(name); err != nil {
				return err
			}
			home, err := controlplane.Open(a.Getenv)
			if err != nil {
				return err
			}
			all, err := home.List()
			if err != nil {
				return err
			}
			if named {
				all = slices.DeleteFunc(all, func(s controlplane.State) bool { return s.Name != name })
			}
			if output == command.FormatJSON {
				frame := command.NewFrame("envtest status", "ControlPlaneList")
				err = command.PrintJSON(a.Out, statusFrame{frame, append([]controlplane.State{}, all...)})
			} else {
				err = printStates(a, all)
			}
			if err != nil {
				return err
			}
			switch {
			case named && !slices.ContainsFunc(all, isRunning):
				return fault.Failed("start it: operon envtest start --detach"+nameFlag(name), "control plane %q is not running", name)
			case len(all) == 0:
				a.Notef("no control plane is running")
			}
			return nil
		},
	}
	bindName(cmd, &name, existingNames(a))
	cmd.Flags().Lookup("name").Usage = "name of a control plane (default: all)"
	cmd.Flags().Lookup("name").DefValue = ""
	command.BindOutput(cmd, &output)
	return cmd
}

func isRunning(s controlplane.State) bool { return s.Phase == controlplane.Running }

// printStates prints each control plane as a block of lines.
func printStates(a *command.App, all []controlplane.State) error {
	var out strings.Builder
	for i, s := range all {
		if i > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(&out, "%-10s  %s\n", s.Name, s.Phase)
		line := func(label, value string) {
			if value != "" {
				fmt.Fprintf(&out, "%-10s  %s\n", label, value)
			}
		}
		line("url", s.URL)
		line("kubeconfig", filepath.ToSlash(s.Kubeconfig))
		if s.Version != "" && s.Controllers {
			s.Version += ", with controllers"
		}
		line("kubernetes", s.Version)
		if !s.Since.IsZero() {
			line("since", s.Since.Format(time.DateTime))
			line("process", fmt.Sprint(s.PID))
		}
		line("reason", command.IndentRest(s.Message, "            "))
		if s.Phase == controlplane.Dead || s.Phase == controlplane.Failed {
			line("to remove", "operon envtest stop"+nameFlag(s.Name))
		}
	}
	return a.Print(out.String())
}
