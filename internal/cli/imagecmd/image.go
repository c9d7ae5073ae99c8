package imagecmd

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/atomicfile"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/input"
	"github.com/spf13/cobra"
)

// managerUser is the user and group of the manager, as in the Dockerfile of a project.
const managerUser = "65532:65532"

// imageOptions holds the flags of operon image.
type imageOptions struct {
	images.Destination

	ref       string
	base      string
	pkg       string
	platforms []string
	sbom      string
	output    string
}

// NewImage returns the command image.
func NewImage(a *command.App) *cobra.Command {
	o := &imageOptions{}
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Build the image of the manager without Docker",
		Long: `Compile the manager without cgo, and put it into an OCI image: /manager, run by
the user ` + managerUser + `, as the Dockerfile of the project does. The image goes to a
registry, an OCI layout or a tarball. Several platforms result in an index. The
image of a Helm operator also has watches.yaml and the charts, without what
.helmignore excludes.

The base is scratch by default: no files, not even CA certificates. For Helm
operators without a runtime of their own, it is the base of the Dockerfile.
Another base is an OCI layout or a reference, which is pulled. Credentials come
from the configuration of docker. The same sources, Go version and base result
in the same digest.`,
		Example: `  operon image --image ghcr.io/acme/fleet:v1.0.0 --push
  operon image --image fleet:dev --tarball fleet.tar && docker load -i fleet.tar
  operon image --image ghcr.io/acme/fleet:v1.0.0 --layout out \
    --platform linux/amd64,linux/arm64`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a) },
	}
	f := cmd.Flags()
	f.StringVar(&o.ref, "image", "", "reference of the image (required)")
	f.StringVar(&o.base, "base", images.Scratch, "base image: a `reference`, the folder of an OCI layout, or "+images.Scratch)
	f.StringVar(&o.pkg, "package", "", "main package of the manager (default: the one in PROJECT, or ./cmd)")
	f.StringSliceVar(&o.platforms, "platform", []string{"linux/" + runtime.GOARCH}, "platforms, separated by commas")
	f.Lookup("platform").DefValue = "linux/" + runtime.GOARCH // instead of a list in brackets
	f.StringVar(&o.sbom, "sbom", "", "write the bill of materials to this `file`, in SPDX JSON")
	o.Bind(cmd)
	command.BindOutput(cmd, &o.output)
	command.CompleteNothing(cmd, "image", "base", "package")
	command.CompleteValues(cmd, "platform", "linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x")
	return cmd
}

func (o *imageOptions) run(ctx context.Context, a *command.App) error {
	platforms, err := o.check(a)
	if err != nil {
		return err
	}
	s, err := a.OpenProject()
	if err != nil {
		return err
	}
	in, err := o.contents(a, s)
	if err != nil {
		return err
	}
	created := time.Unix(0, 0) // without SOURCE_DATE_EPOCH, an image does not depend on the day
	if a.Getenv("SOURCE_DATE_EPOCH") != "" {
		if created, err = a.Time(); err != nil {
			return err
		}
	}
	bases, err := images.OpenBases(ctx, a, in.base, o.Registry, platforms)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "operon-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	built, programs, err := in.build(ctx, a, dir, bases, platforms, created)
	defer func() {
		for _, program := range programs {
			_ = program.Close()
		}
	}()
	if err != nil {
		return err
	}
	content, err := image.NewContent(built)
	if err != nil {
		return err
	}
	if err := o.Write(ctx, a, o.ref, content); err != nil {
		return err
	}
	if err := o.writeSBOM(a, content, programs, created); err != nil {
		return err
	}
	return o.Report(a, "image", o.ref, content, o.platforms, o.output)
}

// build returns the image for each platform, and the programs in them, which the images read until they are
// written. The caller closes the programs, also after an error.
func (in contents) build(
	ctx context.Context, a *command.App, dir string, bases []v1.Image, platforms []v1.Platform, created time.Time,
) (built []v1.Image, programs []*os.File, err error) {
	for i, p := range platforms {
		files, config := in.files, in.config
		if in.module != "" {
			program, err := in.compile(ctx, a, dir, p)
			if err != nil {
				return nil, programs, err
			}
			programs = append(programs, program)
			manager, err := managerFile(program)
			if err != nil {
				return nil, programs, err
			}
			files = append(slices.Clone(files), manager)
		}
		img, err := image.Build(ctx, bases[i], files, config, created)
		if err != nil {
			return nil, programs, err
		}
		built = append(built, img)
	}
	return built, programs, nil
}

// check validates the flags, and returns the platforms.
func (o *imageOptions) check(a *command.App) ([]v1.Platform, error) {
	if o.ref == "" {
		return nil, fault.Usage("for example: --image ghcr.io/acme/fleet:v1.0.0", "--image is required")
	}
	if err := command.CheckOutput(o.output); err != nil {
		return nil, err
	}
	if err := o.Check(a, o.ref); err != nil {
		return nil, err
	}
	return images.ParsePlatforms(o.platforms, o.Tarball != "")
}

// compile builds the manager for a platform into the folder. The version control system is
// not recorded, so that the program depends on the sources only.
func (in contents) compile(ctx context.Context, a *command.App, dir string, p v1.Platform) (*os.File, error) {
	file := filepath.Join(dir, "manager-"+strings.ReplaceAll(p.String(), "/", "-"))
	env := append(slices.Clone(a.Environ), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Architecture)
	if p.Architecture == "arm" && p.Variant != "" {
		env = append(env, "GOARM="+strings.TrimPrefix(p.Variant, "v"))
	}
	a.Progress("compiling for " + p.String())
	done := a.NoteSlow()
	err := a.RunGo(ctx, in.module, env, a.Err, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, in.pkg)
	done()
	if err != nil {
		return nil, fault.Failed("correct the errors above", "the manager does not compile: %v", err)
	}
	return input.Open(file)
}

// managerFile returns the manager as a file of the image.
func managerFile(program *os.File) (image.File, error) {
	info, err := program.Stat()
	if err != nil {
		return image.File{}, err
	}
	return image.File{Path: "manager", Executable: true, Size: info.Size(), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(program, 0, info.Size())), nil
	}}, nil
}

// writeSBOM writes the bill of materials, if the user asks for it.
func (o *imageOptions) writeSBOM(a *command.App, c image.Content, programs []*os.File, created time.Time) error {
	if o.sbom == "" {
		return nil
	}
	var readers []io.ReaderAt
	for _, p := range programs {
		readers = append(readers, p)
	}
	digest, err := c.Digest()
	if err != nil {
		return err
	}
	src, err := image.SBOM(o.ref, digest, readers, created)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(a.Path(o.sbom), src); err != nil {
		return err
	}
	a.Progress("wrote " + o.sbom)
	return nil
}
