package catalogcmd

import (
	"encoding/base64"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/catalog"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
)

// initOptions holds the flags of operon catalog init.
type initOptions struct {
	writer

	channel     string
	description string
	icon        string
}

func newInit(a *command.App) *cobra.Command {
	o := &initOptions{}
	cmd := &cobra.Command{
		Use:   "init PACKAGE",
		Short: "Start a catalog, or add a package to it",
		Long: `Add a package to a file-based catalog: a document of schema olm.package in the
file PACKAGE/catalog.yaml of its folder. The folder may be new.

operon catalog add then adds bundles and channels. It also adds a package that
is missing, with the description and the icon of the bundle.`,
		Example: `  operon catalog init fleet --default-channel stable
  operon catalog init fleet -c stable --description README.md --icon icon.svg`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.channel, "default-channel", "c", "", "channel from which users install the operator unless they select another one (required)")
	f.StringVarP(&o.description, "description", "d", "", "`file` with the description, or - for stdin")
	f.StringVarP(&o.icon, "icon", "i", "", "`file` with the icon: SVG, PNG, JPEG or GIF")
	o.bind(cmd)
	command.CompleteNothing(cmd, "default-channel")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

func (o *initOptions) run(a *command.App, args []string) error {
	switch {
	case len(args) != 1:
		return fault.Usage("for example: operon catalog init fleet --default-channel stable", "operon catalog init needs one package")
	case len(validation.IsDNS1123Label(args[0])) > 0:
		return fault.Usage("use lowercase letters, digits and hyphens", "%q is not the name of a package", args[0])
	case o.channel == "":
		return fault.Usage("for example: --default-channel stable", "--default-channel is required")
	}
	if err := checkChannel("--default-channel", o.channel); err != nil {
		return err
	}
	next := catalog.Package{Schema: catalog.SchemaPackage, Name: args[0], DefaultChannel: o.channel}
	var err error
	if next.Description, err = o.readDescription(a); err != nil {
		return err
	}
	if next.Icon, err = o.readIcon(a); err != nil {
		return err
	}
	err = o.plan(a, o.folder, func(p *scaffold.Plan, dir string) error {
		c, err := readNew(a, o.folder)
		if err != nil {
			return err
		}
		edits, err := c.AddPackage(next)
		if err != nil {
			return fault.In(o.folder, err)
		}
		return apply(p, dir, edits)
	})
	if err == nil && !o.DryRun {
		next := "operon catalog add"
		if o.cmd.Flags().Changed(catalogFlag) {
			next += " --" + catalogFlag + " " + o.folder
		}
		a.NextStep("add a bundle: " + next + " ./bundle --image IMAGE")
	}
	return err
}

func (o *initOptions) readDescription(a *command.App) (string, error) {
	if o.description == "" {
		return "", nil
	}
	if o.description == "-" {
		text, err := images.Await(o.cmd.Context(), func() ([]byte, error) { return input.ReadAll(a.In, input.Text) })
		return strings.TrimSpace(string(text)), err
	}
	text, err := readFile(a, o.description)
	return strings.TrimSpace(string(text)), err
}

func (o *initOptions) readIcon(a *command.App) (*catalog.Icon, error) {
	if o.icon == "" {
		return nil, nil //nolint:nilnil // a package need not have an icon
	}
	data, err := readFile(a, o.icon)
	if err != nil {
		return nil, err
	}
	mediaType, err := bundle.IconType(filepath.ToSlash(o.icon), data)
	return &catalog.Icon{Data: base64.StdEncoding.EncodeToString(data), MediaType: mediaType}, err
}

// readFile reads a file that a flag names.
func readFile(a *command.App, name string) ([]byte, error) {
	data, err := input.ReadFile(a.Path(name), input.Text)
	if err != nil {
		return nil, fault.Usage("name a file that exists", "cannot read %s: %v", name, fault.Reason(err))
	}
	return data, nil
}
