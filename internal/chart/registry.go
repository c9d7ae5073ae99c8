package chart

import (
	"context"
	"fmt"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/operon-dev/operon/internal/fault"
)

// The media types of charts in registries.
const (
	configType = "application/vnd.cncf.helm.config.v1+json"
	layerType  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// fromRegistry downloads a chart from a registry of OCI artifacts.
func (f Fetcher) fromRegistry(ctx context.Context, address, version string) (*Fetched, error) {
	reference := strings.TrimPrefix(address, "oci://")
	name := path.Base(reference)
	named, tag, hasTag := strings.Cut(name, ":")
	switch {
	case strings.Contains(reference, "@"):
	case hasTag && version != "" && tagOf(version) != tag:
		return nil, fault.Usage("name one version", "%s has another version than %s", address, version)
	case hasTag:
	default:
		tags, err := f.Registry.Tags(ctx, reference)
		if err != nil {
			return nil, err
		}
		for i, t := range tags {
			tags[i] = strings.ReplaceAll(t, "_", "+")
		}
		chosen, err := choose(named, version, tags)
		if err != nil {
			return nil, err
		}
		reference += ":" + tagOf(chosen)
	}
	img, err := f.Registry.Pull(ctx, reference, v1.Platform{})
	if err != nil {
		return nil, err
	}
	content, err := chartLayer(img)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fault.In("oci://"+reference, err)
	}
	return unpacked("oci://"+reference, content)
}

// tagOf returns the tag for a version: tags have no plus signs.
func tagOf(version string) string { return strings.ReplaceAll(version, "+", "_") }

// chartLayer returns the archive of a chart. The library verifies its digest.
func chartLayer(img v1.Image) ([]byte, error) {
	manifest, err := img.Manifest()
	if err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	if manifest.Config.MediaType != configType {
		return nil, fault.Usage("push charts with helm push", "not a Helm chart, but %s", manifest.Config.MediaType)
	}
	for _, d := range manifest.Layers {
		if d.MediaType != layerType {
			continue // such as a provenance file
		}
		layer, err := img.LayerByDigest(d.Digest)
		if err != nil {
			return nil, fmt.Errorf("cannot read the chart: %w", err)
		}
		stream, err := layer.Compressed()
		if err != nil {
			return nil, fmt.Errorf("cannot read the chart: %w", err)
		}
		defer func() { _ = stream.Close() }()
		return limited(stream, maxArchive)
	}
	return nil, fault.Usage("push charts with helm push", "it has no layer with a chart")
}
