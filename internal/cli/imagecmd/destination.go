package imagecmd

import (
	"context"
	"fmt"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/image"
	"github.com/spf13/cobra"
)

// destination holds the flags that say where an image goes.
type destination struct {
	push     bool
	layout   string
	tarball  string
	registry image.Registry
}

// bind declares the flags.
func (d *destination) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&d.push, "push", false, "push the image to its registry")
	f.StringVar(&d.layout, "layout", "", "write the image into this `folder`, an OCI layout")
	f.StringVar(&d.tarball, "tarball", "", "write the image to this `file`, for docker load")
	f.BoolVar(&d.registry.SkipTLSVerify, "skip-tls-verify", false, "accept any certificate of a registry")
	f.BoolVar(&d.registry.PlainHTTP, "plain-http", false, "use registries without TLS")
	command.CompleteFlag(cmd, "layout", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
}

// check validates the flags before anything is built.
func (d *destination) check(a *command.App, ref string) error {
	if !d.push && d.layout == "" && d.tarball == "" {
		return fault.Usage("add --push, --layout DIR or --tarball FILE", "the image has no destination")
	}
	if _, err := d.registry.ParseReference(ref); err != nil || d.layout == "" {
		return err
	}
	return image.CheckLayout(relativeTo(a.Dir, d.layout))
}

// write writes the image to all destinations.
func (d *destination) write(ctx context.Context, a *command.App, ref string, c image.Content) error {
	if d.layout != "" {
		if err := image.WriteLayout(relativeTo(a.Dir, d.layout), ref, c); err != nil {
			return err
		}
		a.Progress("wrote " + d.layout)
	}
	if d.tarball != "" {
		if err := image.WriteTarball(relativeTo(a.Dir, d.tarball), ref, c); err != nil {
			return err
		}
		a.Progress("wrote " + d.tarball)
	}
	if d.push {
		a.Progress("pushing " + ref)
		return d.registry.Push(ctx, ref, c)
	}
	return nil
}

// imageFrame is the JSON report of an image.
type imageFrame struct {
	command.Frame
	Image     string   `json:"image"`
	Digest    string   `json:"digest"`
	Platforms []string `json:"platforms"`
}

// report prints the reference of the image with its digest.
func (d *destination) report(a *command.App, name, ref string, c image.Content, platforms []string, output string) error {
	digest, err := c.Digest()
	if err != nil {
		return err
	}
	if output == command.FormatJSON {
		return command.PrintJSON(a.Out, imageFrame{command.NewFrame(name, "Image"), ref, digest, platforms})
	}
	_, err = fmt.Fprintf(a.Out, "%s@%s\n", ref, digest)
	return err
}
