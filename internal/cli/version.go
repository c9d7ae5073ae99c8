package cli

import (
	"runtime"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/spf13/cobra"
)

// versionFrame is the JSON form of `operon version`.
type versionFrame struct {
	command.Frame
	Version           string `json:"version"`
	ControllerTools   string `json:"controllerTools"`
	ControllerRuntime string `json:"controllerRuntime"`
	Kubernetes        string `json:"kubernetes"`
	Go                string `json:"go"`
	Platform          string `json:"platform"`
}

func newVersion(a *command.App) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of operon and of its libraries",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := command.CheckOutput(output); err != nil {
				return err
			}
			v := versionFrame{
				Frame:             command.NewFrame("version", "Version"),
				Version:           command.Version(),
				ControllerTools:   controllertools.Version(),
				ControllerRuntime: pins.ControllerRuntime,
				Kubernetes:        "v" + pins.Kubernetes,
				Go:                runtime.Version(),
				Platform:          runtime.GOOS + "/" + runtime.GOARCH,
			}
			if output == command.FormatJSON {
				return command.PrintJSON(a.Out, v)
			}
			return a.PrintTable([][]string{
				{"operon", v.Version},
				{"controller-tools", v.ControllerTools},
				{"controller-runtime", v.ControllerRuntime},
				{"kubernetes", v.Kubernetes},
				{"go", v.Go},
				{"platform", v.Platform},
			})
		},
	}
	command.BindOutput(cmd, &output)
	return cmd
}
