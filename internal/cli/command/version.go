package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/spf13/cobra"
)

// versionFrame is the JSON form of `operon version`.
type versionFrame struct {
	APIVersion        string `json:"apiVersion"`
	Kind              string `json:"kind"`
	Version           string `json:"version"`
	ControllerTools   string `json:"controllerTools"`
	ControllerRuntime string `json:"controllerRuntime"`
	Kubernetes        string `json:"kubernetes"`
	Go                string `json:"go"`
	Platform          string `json:"platform"`
}

func NewVersion(a *App) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of operon and of what it writes",
		Args:  NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := CheckOutput(output); err != nil {
				return err
			}
			v := Version()
			if output == "json" {
				return PrintJSON(a.Out, v)
			}
			_, err := fmt.Fprintf(a.Out, "operon              %s\ncontroller-tools    %s\ncontroller-runtime  %s\nkubernetes          %s\ngo                  %s\nplatform            %s\n",
				v.Version, v.ControllerTools, v.ControllerRuntime, v.Kubernetes, v.Go, v.Platform)
			return err
		},
	}
	BindOutput(cmd, &output)
	return cmd
}

func Version() versionFrame {
	v := versionFrame{
		APIVersion: APIVersion, Kind: "Version", Version: "devel",
		ControllerTools:   controllertools.Version(),
		ControllerRuntime: pins.ControllerRuntime,
		Kubernetes:        "v" + pins.Kubernetes,
		Go:                runtime.Version(),
		Platform:          runtime.GOOS + "/" + runtime.GOARCH,
	}
	// The go command records the version of `go install` and of a tagged checkout.
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	return v
}
