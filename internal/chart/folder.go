package chart

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"
)

// folder reads the files of a chart that .helmignore does not exclude. It follows links, as Helm does.
type folder struct {
	root          string // without links
	selfContained bool   // whether links out of the folder are errors
	rules         rules
	files         map[string][]byte // by their slash-separated paths
}

// ReadFolder reads the files of the chart in a folder that .helmignore does not exclude, by their slash-separated
// paths. It follows links. The error is an *Error.
func ReadFolder(dir string) (map[string][]byte, error) { return readFolder(dir, false) }

// readFolder is like ReadFolder. With selfContained, links out of the folder are errors: the
// files that they lead to must not get into other folders. The error is an *Error.
func readFolder(dir string, selfContained bool) (map[string][]byte, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, &Error{File: "Chart.yaml", Msg: fault.Reason(err).Error()}
	}
	if _, err := os.Stat(filepath.Join(root, "Chart.yaml")); errors.Is(err, fs.ErrNotExist) { // whatever else the folder has
		return nil, withHint("name the folder of a chart", &Error{File: "Chart.yaml", Msg: "the file is missing"})
	}
	content, err := input.ReadFile(filepath.Join(root, ignore.HelmIgnore), input.Text)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{File: ignore.HelmIgnore, Msg: fault.Reason(err).Error()}
	}
	f := folder{root: root, selfContained: selfContained, files: map[string][]byte{}}
	if f.rules, err = ignoreRules(content); err != nil {
		return nil, err
	}
	return f.files, f.below(root, "", []string{root})
}

const linkHint = "replace the link with what belongs to the chart, or add it to .helmignore"

// below reads the files in a folder. name is its path in the chart, and around are the folders that it is in.
func (f folder) below(dir, name string, around []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return &Error{File: name, Msg: fault.Reason(err).Error()}
	}
	for _, entry := range entries {
		name := path.Join(name, entry.Name())
		if entry.Name() == ".git" || !entry.IsDir() && f.rules.Ignore(name, member{name, false}) {
			continue
		}
		file, problem := filepath.Join(dir, entry.Name()), ""
		if entry.Type()&fs.ModeSymlink != 0 {
			if file, problem = f.target(file); problem != "" {
				return withHint(linkHint, &Error{File: name, Msg: problem})
			}
		}
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return &Error{File: name, Msg: fault.Reason(err).Error()}
		case !info.IsDir():
			if f.files[name], err = readFile(file, info); err != nil {
				return &Error{File: name, Msg: err.Error()}
			}
		case slices.Contains(around, file):
			return withHint(linkHint, &Error{File: name, Msg: "the link leads to a folder that contains it"})
		case !f.rules.Ignore(name, member{name, true}):
			if err := f.below(file, name, append(slices.Clone(around), file)); err != nil {
				return err
			}
		}
	}
	return nil
}

// target returns what a link leads to, or why that cannot belong to the chart.
func (f folder) target(link string) (file, problem string) {
	file, err := filepath.EvalSymlinks(link)
	if err != nil {
		return "", "the link leads nowhere"
	}
	if inside, err := filepath.Rel(f.root, file); f.selfContained && (err != nil || !filepath.IsLocal(inside)) {
		return "", "the link leads out of the chart, to " + filepath.ToSlash(file)
	}
	return file, ""
}

// readFile reads a file that is no larger than those that Helm loads.
func readFile(name string, info fs.FileInfo) ([]byte, error) {
	if info.Size() > loader.MaxDecompressedFileSize {
		return nil, errors.New("the file is larger than 5 MiB, so Helm does not load it")
	}
	content, err := input.ReadFile(name, input.Text)
	if err != nil {
		return nil, fault.Reason(err)
	}
	return content, nil
}

// rules are the rules in .helmignore. Helm applies them to the files of a folder and, when it packages a chart,
// to an archive's.
type rules struct{ *ignore.Rules }

// ignoreRules reads .helmignore. The error is an *Error.
func ignoreRules(content []byte) (rules, error) {
	parsed, err := ignore.Parse(strings.NewReader(string(content)))
	if err != nil {
		return rules{}, &Error{File: ignore.HelmIgnore, Msg: err.Error()}
	}
	parsed.AddDefaults()
	return rules{parsed}, nil
}

// excludes reports whether Helm ignores a file or one of the folders around it.
func (r rules) excludes(name string) bool {
	for i, c := range name {
		if c == '/' && r.Ignore(name[:i], member{name[:i], true}) {
			return true
		}
	}
	return r.Ignore(name, member{name, false})
}

// member is what the rules must know about a file or a folder of a chart.
type member struct {
	name  string
	isDir bool
}

func (m member) Name() string       { return path.Base(m.name) }
func (m member) IsDir() bool        { return m.isDir }
func (m member) Size() int64        { return 0 }
func (m member) Mode() fs.FileMode  { return 0 }
func (m member) ModTime() time.Time { return time.Time{} }
func (m member) Sys() any           { return nil }
