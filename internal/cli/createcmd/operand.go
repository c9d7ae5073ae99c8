package createcmd

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// operandFlags describe what the controller of a kind deploys.
type operandFlags struct {
	project.Operand
	set bool // by --image, or by --plugins
}

var operandFlagNames = []string{"image", "image-container-command", "image-container-port", "run-as-user"}

func (o *operandFlags) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Image, operandFlagNames[0], "", "image that the controller deploys for each object; see docs/deploy-image.md")
	f.StringVar(&o.ContainerCommand, operandFlagNames[1], "", "command of its container, with commas between the words")
	f.StringVar(&o.ContainerPort, operandFlagNames[2], "", "port of its container, which becomes a field of the spec")
	f.StringVar(&o.RunAsUser, operandFlagNames[3], "", "ID of the user that runs its container")
	command.CompleteNothing(cmd, operandFlagNames...)
}

// checkOperand validates the flags of the operand by themselves and with the flags of the kind.
func (o *createAPI) checkOperand() error {
	changed := o.cmd.Flags().Changed
	if i := slices.IndexFunc(operandFlagNames, changed); i > 0 && !changed("image") {
		return fault.Usage("add --image", "--%s needs --image", operandFlagNames[i])
	}
	if !changed("image") {
		return nil
	}
	o.operand.set = true
	if changed("image-container-command") && o.operand.ContainerCommand == "" {
		return fault.Usage("remove the flag: the image has a command", "--image-container-command is empty")
	}
	if err := o.operand.Check(); err != nil {
		return err
	}
	switch {
	case !o.api:
		return fault.Usage("remove --resource=false or --image", "--image adds fields to the types of a kind, and --resource=false adds no types")
	case !o.controller:
		return fault.Usage("remove --controller=false or --image", "--image describes what a controller deploys")
	case o.name != "":
		return fault.Usage("remove --controller-name", "the controller that deploys an image has the name of the kind")
	case !o.namespaced:
		return fault.Usage("remove --namespaced=false", "a Deployment needs a namespace, and cluster-scoped objects have none")
	}
	return nil
}

// checkPlugins resolves --plugins in the project. The plugin of the operand and --image imply each
// other.
func (o *createAPI) checkPlugins(a *command.App) error {
	if !o.cmd.Flags().Changed("plugins") {
		return nil
	}
	keys, err := a.Catalogue.ResolveCall(o.plugins, o.project.Config, true)
	if err != nil {
		return err
	}
	o.called = keys
	named := slices.Contains(keys, project.OperandKey)
	switch {
	case named && !o.operand.set:
		return fault.Usage("add --image", "the plugin %s needs the image to deploy", project.OperandKey)
	case !named && o.operand.set:
		return fault.Usage("add it to --plugins, or remove --plugins", "--image belongs to the plugin %s", project.OperandKey)
	}
	return nil
}

// recordOperand records what the controller of r deploys. A later command does not change it.
func (o *createAPI) recordOperand(cfg *project.Config, r project.Resource) error {
	if !o.operand.set {
		return nil
	}
	have, ok := cfg.Operand(r)
	if ok && have != o.operand.Operand && !o.Force {
		return fault.Usage("change the code and "+cfg.ImageVariable(r)+" in config/manager/manager.yaml instead, or use --force, which replaces the code",
			"%s %s exists with other values: %s", r.Version, r.Kind, operandText(have))
	}
	if err := cfg.CheckDeploymentKind(r); err != nil {
		return err
	}
	cfg.PutOperand(r, o.operand.Operand)
	return cfg.CheckOperand(r)
}

// operandText returns an operand as flags.
func operandText(o project.Operand) string {
	var flags []string
	for i, value := range []string{o.Image, o.ContainerCommand, o.ContainerPort, o.RunAsUser} {
		if value != "" {
			flags = append(flags, "--"+operandFlagNames[i]+"="+value)
		}
	}
	return strings.Join(flags, " ")
}
