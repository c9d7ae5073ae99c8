package bundle

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"go.yaml.in/yaml/v3"
)

// Release is one version of an operator in the format packagemanifests, as a bundle.
type Release struct {
	Folder string            // of the manifests, without the folders above it, such as 0.1.0
	Bundle *Bundle           // as Parse returns it
	Files  map[string][]byte // of the bundle, by path with slashes
}

// packageFile is the file that describes a package in the format packagemanifests.
type packageFile struct {
	Package  string `yaml:"packageName"`
	Default  string `yaml:"defaultChannel"`
	Channels []struct {
		Name string `yaml:"name"`
		Head string `yaml:"currentCSV"`
	} `yaml:"channels"`
}

// ReadPackageManifests reads a folder with a package in the format packagemanifests: a file
// *.package.yaml and a folder for each version beside it. The result is in the order of the
// folders.
func ReadPackageManifests(folder string) ([]Release, error) {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return nil, fault.Usage("name the folder with the package", "this is a file")
	}
	files := map[string][]byte{}
	root := input.Folder(folder, input.Text)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || hidden(name) || !isYAML(name) {
			return err
		}
		files[name], err = fs.ReadFile(root, name)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Usage("name the folder with the package", "the folder does not exist")
	}
	if err != nil {
		return nil, err
	}
	return fromPackageManifests(files)
}

// fromPackageManifests converts the files of a package.
func fromPackageManifests(files map[string][]byte) ([]Release, error) {
	base, pkg, err := readPackage(files)
	if err != nil {
		return nil, err
	}
	byFolder := map[string]map[string][]byte{}
	for name, content := range files {
		folder, rest, ok := strings.Cut(strings.TrimPrefix(name, base), "/")
		if !ok || !strings.HasPrefix(name, base) {
			continue
		}
		if strings.Contains(rest, "/") {
			return nil, fault.Usage("move it to the folder of its version", "%s is in a folder below that of the version", name)
		}
		if byFolder[folder] == nil {
			byFolder[folder] = map[string][]byte{}
		}
		byFolder[folder][rest] = content
	}
	if len(byFolder) == 0 {
		return nil, fault.Usage("name the folder with the versions of one package", "the package %s has no versions", pkg.Package)
	}
	var releases []Release
	for _, folder := range slices.Sorted(maps.Keys(byFolder)) {
		r, err := newRelease(folder, pkg, byFolder[folder])
		if err != nil {
			return nil, fault.In(base+folder, err)
		}
		releases = append(releases, r)
	}
	return releases, setChannels(releases, pkg)
}

// readPackage finds the file that describes the package. It returns the folder of the file, with a
// slash at the end unless it is empty.
func readPackage(files map[string][]byte) (folder string, pkg packageFile, err error) {
	var found string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		var p packageFile
		if yaml.Unmarshal(files[name], &p) != nil || p.Package == "" {
			continue
		}
		if found != "" {
			return "", pkg, fault.Usage("name the folder of one of them", "there are two packages: %s and %s", found, name)
		}
		found, pkg = name, p
	}
	if found == "" {
		return "", pkg, fault.Usage("name the folder with the file *.package.yaml", "no file describes a package")
	}
	if pkg.Default == "" && len(pkg.Channels) == 1 {
		pkg.Default = pkg.Channels[0].Name
	}
	if pkg.Default == "" {
		return "", pkg, fault.Usage("add defaultChannel: NAME", "%s names no default channel", found)
	}
	if folder = path.Dir(found) + "/"; folder == "./" {
		folder = ""
	}
	return folder, pkg, nil
}

func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool { return strings.HasPrefix(s, ".") })
}

// newRelease returns the bundle of one version, in the default channel.
func newRelease(folder string, pkg packageFile, manifests map[string][]byte) (Release, error) {
	r := Release{Folder: folder, Files: map[string][]byte{}}
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		target := ManifestsDir + "/" + name
		if isScorecard(manifests[name]) {
			target = ScorecardFile
		}
		if _, ok := r.Files[target]; ok {
			return r, fault.Usage("keep one of them", "there are two configurations of a scorecard")
		}
		r.Files[target] = manifests[name]
	}
	return r, r.setMetadata(pkg, []string{pkg.Default})
}

// setMetadata writes the annotations with these channels, and parses the bundle.
func (r *Release) setMetadata(pkg packageFile, channels []string) error {
	m := Metadata{Package: pkg.Package, Channels: channels, DefaultChannel: pkg.Default}
	_, m.Scorecard = r.Files[ScorecardFile]
	if r.Bundle != nil {
		m.Extra = r.Bundle.metrics()
	}
	r.Files[AnnotationsFile] = m.NewAnnotations()
	var err error
	r.Bundle, err = Parse(r.Files)
	return err
}

// isScorecard reports whether a file has the configuration of a scorecard.
func isScorecard(src []byte) bool {
	var object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
	}
	err := yaml.NewDecoder(bytes.NewReader(src)).Decode(&object)
	return (err == nil || errors.Is(err, io.EOF)) && object.Kind == "Configuration" &&
		strings.HasPrefix(object.APIVersion, "scorecard.operatorframework.io/")
}

// metrics returns the annotations that say how the operator was built, from the annotations of the
// ClusterServiceVersion.
func (b *Bundle) metrics() map[string]string {
	values := map[string]string{}
	for _, key := range []string{"builder", "project_layout"} {
		if value := b.CSVAnnotation("operators.operatorframework.io/" + key); value != "" {
			values[prefix+"metrics."+key] = value
			values[prefix+"metrics.mediatype.v1"] = "metrics+v1"
		}
	}
	return values
}

// setChannels puts each version into the channels that it belongs to: those whose newest
// version it is, or leads to by replaces and skips. The others stay in the default channel.
func setChannels(releases []Release, pkg packageFile) error {
	older := map[string][]string{} // by the name of a version, those that it replaces or skips
	for _, r := range releases {
		spec := r.Bundle.Spec()
		older[r.Bundle.Name()] = nil
		if replaced := jsonvalue.String(spec, "replaces"); replaced != "" {
			older[r.Bundle.Name()] = append(older[r.Bundle.Name()], replaced)
		}
		older[r.Bundle.Name()] = append(older[r.Bundle.Name()], jsonvalue.Strings(spec, "skips")...)
	}
	channels := map[string]map[string]bool{} // by the name of a version
	for _, channel := range pkg.Channels {
		if _, known := older[channel.Head]; !known {
			return fault.Usage("correct currentCSV, or add the folder of the version",
				"channel %s has the current version %q, and no folder has its ClusterServiceVersion", channel.Name, channel.Head)
		}
		for queue := []string{channel.Head}; len(queue) > 0; queue = queue[1:] {
			name := queue[0]
			if channels[name][channel.Name] {
				continue
			}
			if channels[name] == nil {
				channels[name] = map[string]bool{}
			}
			channels[name][channel.Name] = true
			queue = append(queue, older[name]...)
		}
	}
	for i := range releases {
		own := slices.Sorted(maps.Keys(channels[releases[i].Bundle.Name()]))
		if len(own) == 0 {
			own = []string{pkg.Default}
		}
		if err := releases[i].setMetadata(pkg, own); err != nil {
			return err
		}
	}
	return nil
}
