package bundle

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	k8syaml "sigs.k8s.io/yaml"
)

// Bundle is a bundle that was read.
type Bundle struct {
	Annotations  map[string]string // of metadata/annotations.yaml
	Manifests    []Manifest        // in the order of their files
	CSV          Manifest          // the ClusterServiceVersion, one of the manifests
	Dependencies []Property        // of metadata/dependencies.yaml
	Properties   []Property        // of metadata/properties.yaml
}

// Manifest is an object of a bundle.
type Manifest struct {
	File   string // relative to the folder of the bundle, with slashes
	Object map[string]any
}

// ReadFolder returns the files of a bundle in a folder, as Parse expects them. Other files of
// the folder are not read.
func ReadFolder(folder string) (map[string][]byte, error) {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Usage("run operon bundle generate, or name the folder of a bundle", "%s does not exist", filepath.ToSlash(folder))
	case err == nil && !info.IsDir():
		return nil, fault.Usage("name the folder of a bundle", "%s is a file", filepath.ToSlash(folder))
	}
	files := map[string][]byte{}
	root := input.Folder(folder, input.Text)
	for _, dir := range Folders() {
		err := fs.WalkDir(root, dir, func(name string, d fs.DirEntry, err error) error {
			if name == dir && errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if err != nil || d.IsDir() {
				return unreadable(name, err)
			}
			if info, err := fs.Stat(root, name); err == nil && info.IsDir() { // follows links
				return nil
			}
			files[name], err = fs.ReadFile(root, name)
			return unreadable(name, err)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return files, nil
}

// unreadable explains why a file of a folder cannot be read, if err is not nil. What is outside the folder would be published.
func unreadable(name string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Usage("remove it, or replace it with a file", "%s: %v", name, fault.Reason(err))
}

// Parse reads a bundle from its files, by path with slashes. An error is about the first file
// that makes it no bundle.
func Parse(files map[string][]byte) (*Bundle, error) {
	src, ok := files[AnnotationsFile]
	if !ok {
		return nil, fault.Usage("name a folder with manifests and metadata, as operon bundle generate writes it", "this is not a bundle: it lacks %s", AnnotationsFile)
	}
	b := &Bundle{}
	var err error
	if b.Annotations, err = readAnnotations(src, true); err != nil {
		return nil, fault.In(AnnotationsFile, err)
	}
	if b.Annotations[PackageKey] == "" {
		return nil, fault.Usage("add "+PackageKey+": NAME", "%s does not name the package", AnnotationsFile)
	}
	if folder := b.Annotations[ManifestsKey]; folder != "" && path.Clean(folder) != ManifestsDir {
		return nil, fault.In(AnnotationsFile, fault.Usage("rename the folder to "+ManifestsDir, "the manifests are in %s, and catalogs accept only %s/", folder, ManifestsDir))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Dir(name) == ManifestsDir && isYAML(name) {
			if err := b.addManifests(name, files[name]); err != nil {
				return nil, err
			}
		}
	}
	if err := b.findCSV(); err != nil {
		return nil, err
	}
	if b.Dependencies, err = readProperties(files, MetadataDir+"/dependencies.yaml", "dependencies"); err != nil {
		return nil, err
	}
	b.Properties, err = readProperties(files, MetadataDir+"/properties.yaml", "properties")
	return b, err
}

func isYAML(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// addManifests adds the objects of a file. Their values are those that OLM reads, by YAML 1.1:
// yes is true, and dates are strings.
func (b *Bundle) addManifests(name string, src []byte) error {
	if err := CheckStrict(name, src); err != nil {
		return err
	}
	for docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(src))); ; {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var object map[string]any
		if err == nil {
			doc, err = k8syaml.YAMLToJSON(doc)
		}
		if err == nil {
			err = json.Unmarshal(doc, &object)
		}
		if err != nil {
			return invalidYAML(name, err)
		}
		if object != nil {
			b.Manifests = append(b.Manifests, Manifest{name, object})
		}
	}
}

// invalidYAML returns the first error in a file, with its line.
func invalidYAML(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if types := new(yaml.TypeError); errors.As(err, &types) {
		text = types.Errors[0]
	}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		name, text = name+":", rest
	} else {
		name += ": "
	}
	return fault.Usage("correct the YAML; operon bundle validate lists all problems", "%s%s", name, text)
}

// findCSV finds the only ClusterServiceVersion.
func (b *Bundle) findCSV() error {
	for _, m := range b.Manifests {
		if m.Object["kind"] != "ClusterServiceVersion" {
			continue
		}
		if b.CSV.Object != nil {
			return fault.Usage("remove one of them", "the bundle has two ClusterServiceVersions: %s and %s", b.CSV.File, m.File)
		}
		b.CSV = m
	}
	if b.CSV.Object == nil {
		return fault.Usage("run operon bundle generate", "the bundle has no ClusterServiceVersion in %s", ManifestsDir)
	}
	if b.Name() == "" {
		return fault.Usage("add metadata.name", "the ClusterServiceVersion in %s has no name", b.CSV.File)
	}
	return nil
}

// readProperties reads a list of properties from a file that may be missing.
func readProperties(files map[string][]byte, name, key string) ([]Property, error) {
	var content map[string]yaml.Node
	err := yaml.Unmarshal(files[name], &content)
	var all []Property
	if list := content[key]; err == nil && list.Kind != 0 {
		ResolveAsOLM(&list)
		err = list.Decode(&all)
	}
	if types := new(yaml.TypeError); errors.As(err, &types) {
		return nil, fault.Usage("operon bundle validate lists all problems", "%s: %s is not a list of objects with a type and a value", name, key)
	}
	if err != nil {
		return nil, invalidYAML(name, err)
	}
	return all, nil
}

// Package returns the name of the package.
func (b *Bundle) Package() string { return b.Annotations[PackageKey] }

// Channels returns the channels of the bundle.
func (b *Bundle) Channels() []string {
	var channels []string
	for name := range strings.SplitSeq(b.Annotations[ChannelsKey], ",") {
		if name = strings.TrimSpace(name); name != "" {
			channels = append(channels, name)
		}
	}
	return channels
}

// ScorecardFile returns the path of the file with the configuration of the tests, which may
// be missing.
func (b *Bundle) ScorecardFile() string { return ScorecardFileIn(b.Annotations[TestConfigKey]) }

// ScorecardFileIn returns the path of the configuration of the tests in the folder that an
// annotation names; it may be empty.
func ScorecardFileIn(folder string) string {
	return path.Join(cmp.Or(strings.Trim(folder, "/"), ScorecardDir), path.Base(ScorecardFile))
}

// Name returns the name of the ClusterServiceVersion, such as fleet.v0.1.0.
func (b *Bundle) Name() string {
	return jsonvalue.String(b.CSV.Object, "metadata", "name")
}

// CSVAnnotation returns an annotation of the ClusterServiceVersion, or "".
func (b *Bundle) CSVAnnotation(key string) string {
	return jsonvalue.String(b.CSV.Object, "metadata", "annotations", key)
}

// Spec returns the spec of the ClusterServiceVersion. It is nil if there is none.
func (b *Bundle) Spec() map[string]any {
	return jsonvalue.Map(b.CSV.Object, "spec")
}

// Deployments returns the Deployments in the ClusterServiceVersion: each has a name and a spec.
func (b *Bundle) Deployments() []map[string]any {
	return jsonvalue.Maps(b.Spec(), "install", "spec", "deployments")
}

// CreatesAccount reports whether the ServiceAccount is a part of the bundle.
func (b *Bundle) CreatesAccount(name string) bool {
	if name == "" {
		return false
	}
	for _, m := range b.Manifests {
		if m.Object["kind"] == "ServiceAccount" && jsonvalue.String(m.Object, "metadata", "name") == name {
			return true
		}
	}
	for _, key := range []string{"clusterPermissions", "permissions"} {
		for _, p := range jsonvalue.Maps(b.Spec(), "install", "spec", key) {
			if jsonvalue.String(p, "serviceAccountName") == name {
				return name != "default"
			}
		}
	}
	return false
}

// InstallModes returns the names of the install modes that the operator supports.
func (b *Bundle) InstallModes() (names []string) {
	for _, mode := range jsonvalue.Maps(b.Spec(), "installModes") {
		if mode["supported"] == true {
			names = append(names, jsonvalue.String(mode, "type"))
		}
	}
	return names
}

// Version returns the version of the operator, or "".
func (b *Bundle) Version() string {
	return jsonvalue.String(b.Spec(), "version")
}
