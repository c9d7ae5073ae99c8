package bundlecmd

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"github.com/operon-dev/operon/internal/olm/csv"
	"github.com/operon-dev/operon/internal/project"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// manifestsDir is the usual kustomization of a bundle.
const manifestsDir = "config/manifests"

// sources are what the project has for its bundle.
type sources struct {
	objects []csv.Object
	options csv.Options
}

// manifests builds the kustomization, and reads the metadata beside it.
func (o *generate) manifests(s command.Project, declared project.Bundle) (sources, error) {
	var in sources
	dirs := []string{o.kustomizeDir}
	if !o.cmd.Flags().Changed("kustomize-dir") && !isFolder(s.Root, manifestsDir) {
		dirs = []string{"config/default"}
		for _, dir := range []string{"config/samples", "config/scorecard"} {
			if isFolder(s.Root, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	for i, dir := range dirs {
		options := kustomize.Options{}
		if i == 0 {
			options.Image = o.image
		}
		built, err := kustomize.Build(s.Root, dir, options)
		if err != nil {
			return in, err
		}
		for _, object := range built.Objects {
			in.objects = append(in.objects, csv.Object{Unstructured: object.Unstructured, File: object.File})
		}
	}
	in.options.ListedAt = func(file string) string {
		for _, dir := range dirs {
			if at := listedAt(s.Plan.Read, dir, file); at != "" {
				return at
			}
		}
		return ""
	}
	if err := in.readBases(s, path.Join(o.kustomizeDir, "bases")); err != nil || declared.Description == "" {
		return in, err
	}
	text, err := s.Plan.Read(declared.Description)
	if err != nil {
		return in, project.InPluginConfig(project.BundlePlugin, fault.Usage("name a file in the project, such as README.md", "description: %s does not exist", declared.Description))
	}
	in.options.Description = string(bytes.TrimSpace(text))
	return in, nil
}

// listedAt returns the line of a kustomization, in a folder or below what it refers to, that adds a file
// or its folder; or "".
func listedAt(read func(string) ([]byte, error), dir, file string) string {
	name := path.Join(dir, "kustomization.yaml")
	src, err := read(name)
	var doc struct{ Resources, Components []yamlv3.Node }
	if err != nil || yamlv3.Unmarshal(src, &doc) != nil {
		return ""
	}
	for _, item := range slices.Concat(doc.Resources, doc.Components) {
		target := path.Join(dir, item.Value)
		if target == path.Dir(file) || target == file {
			return name + ":" + strconv.Itoa(item.Line)
		}
		if at := listedAt(read, target, file); at != "" {
			return at
		}
	}
	return ""
}

func isFolder(root, name string) bool {
	info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil && info.IsDir()
}

// readBases reads the base of the ClusterServiceVersion, which the kustomization need not
// list, and the files with its description and its icon.
func (in *sources) readBases(s command.Project, dir string) error {
	names, err := s.Plan.Files(dir)
	if err != nil {
		return ignoreMissing(err)
	}
	var bases, icons []string
	for _, name := range names {
		file := path.Join(dir, name)
		switch {
		case strings.HasSuffix(name, ".clusterserviceversion.yaml"):
			bases = append(bases, file)
		case name == "description.md":
			text, err := s.Plan.Read(file)
			if err != nil {
				return err
			}
			in.options.Description = string(bytes.TrimSpace(text))
		case strings.TrimSuffix(name, path.Ext(name)) == "icon":
			icons = append(icons, file)
		}
	}
	for _, names := range [][]string{bases, icons} {
		if len(names) > 1 {
			return fault.Usage("keep one of them", "a bundle can have only one of %s", strings.Join(names, ", "))
		}
	}
	if len(icons) == 1 {
		if err := in.readIcon(s, icons[0]); err != nil {
			return err
		}
	}
	if len(bases) == 1 {
		return in.readBase(s, bases[0])
	}
	return nil
}

func (in *sources) readBase(s command.Project, file string) error {
	text, err := s.Plan.Read(file)
	if err != nil {
		return err
	}
	if err := yamledit.CheckSyntax(file, text); err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, &in.options.Base); err != nil {
		return fault.In(file, fault.Usage("write a ClusterServiceVersion", "not an object"))
	}
	if in.options.Base["kind"] != "ClusterServiceVersion" {
		return fault.In(file, fault.Usage("correct the kind", "not a ClusterServiceVersion"))
	}
	in.options.BaseFile = file
	return nil
}

func (in *sources) readIcon(s command.Project, file string) error {
	data, err := s.Plan.Read(file)
	if err != nil {
		return err
	}
	mediaType, err := bundle.IconType(file, data)
	if err != nil {
		return err
	}
	in.options.Icon = &csv.Icon{MediaType: mediaType, Data: data}
	return nil
}
