package imagecmd

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/charts"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/image"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// The folders of the engine of charts: in a project, and in images.
const (
	runtimeDir = "runtime"
	chartsHome = "opt/helm"
)

// contents are what an image gets.
type contents struct {
	base   string
	module string // the folder of the Go module to compile; "" without one
	pkg    string // its main package
	files  []image.File
	config image.Config
}

// contents returns what the image of a project gets.
func (o *imageOptions) contents(a *command.App, s command.Project) (contents, error) {
	config := image.Config{Entrypoint: []string{"/manager"}, WorkingDir: "/", User: managerUser}
	in := contents{base: o.base, module: s.Root, pkg: o.pkg, config: config}
	switch {
	case a.HasCharts(s.Config):
		return o.withCharts(in)
	case !a.HasGo(s.Config):
		return contents{}, fault.Usage("use make docker-build", "operon image builds Go managers and Helm operators, and this project is neither")
	}
	if in.pkg == "" {
		in.pkg = "./" + path.Dir(s.Config.MainFile())
	}
	if !exists(s.Root, in.pkg) {
		return contents{}, fault.Usage("name the main package with --package", "%s does not exist", in.pkg)
	}
	return in, nil
}

// withCharts adds watches.yaml and its charts. A project without a runtime of its own adds them to the
// base of its Dockerfile, which has the engine.
func (o *imageOptions) withCharts(in contents) (contents, error) {
	if o.pkg != "" {
		return contents{}, fault.Usage("remove the flag", "--package applies to Go projects, and this project installs charts")
	}
	root := in.module
	var err error
	if in.files, err = chartFiles(root); err != nil {
		return contents{}, err
	}
	in.config.WorkingDir = "/" + chartsHome
	if exists(root, runtimeDir) {
		in.module, in.pkg = filepath.Join(root, runtimeDir), "."
		return in, nil
	}
	if o.sbom != "" {
		return contents{}, fault.Usage("remove the flag, or run operon edit --runtime module", "--sbom lists the modules of the manager, and this image has the one of its base")
	}
	in.module, in.config.Entrypoint, in.config.User = "", nil, ""
	if o.base == images.Scratch {
		in.base, err = dockerBase(filepath.Join(root, "Dockerfile"))
	}
	return in, err
}

func exists(root, name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return !errors.Is(err, fs.ErrNotExist)
}

var (
	// fromLine matches the instruction that starts a stage: its base, and its name.
	fromLine = lazyregexp.New(`(?i)^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?`)

	continued = lazyregexp.New(`\\[ \t]*\r?\n`)
	heredoc   = lazyregexp.New(`<<-?["']?(\w+)`) // the word that ends the text below an instruction
)

// dockerBase returns the base of the last stage of a Dockerfile. A stage can start from an earlier one.
func dockerBase(name string) (string, error) {
	const hint = "add --base with the reference of an image that has helm-operator"
	src, err := input.ReadFile(name, input.Text)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	base, end, stages := "", "", map[string]string{}
	for line := range strings.Lines(continued().ReplaceAllString(string(src), " ")) {
		if end != "" {
			if strings.TrimSpace(line) == end {
				end = ""
			}
			continue
		}
		if m := heredoc().FindStringSubmatch(line); m != nil {
			end = m[1]
		}
		if m := fromLine().FindStringSubmatch(line); m != nil {
			base = cmp.Or(stages[strings.ToLower(m[1])], m[1])
			stages[strings.ToLower(m[2])] = base
		}
	}
	switch {
	case base == "":
		return "", fault.Usage(hint, "the Dockerfile has no base")
	case strings.Contains(base, "$"):
		return "", fault.Usage(hint, "the base in the Dockerfile depends on a variable: %s", base)
	}
	return base, nil
}

// chartFiles returns watches.yaml and the files of its charts.
func chartFiles(root string) ([]image.File, error) {
	list, src, err := charts.ReadWatches(root)
	if err != nil {
		return nil, err
	}
	files := []image.File{image.Text(path.Join(chartsHome, watches.File), src)}
	added := map[string]bool{}
	for _, w := range list {
		folder := path.Clean(w.Chart)
		if added[folder] {
			continue
		}
		added[folder] = true
		if !filepath.IsLocal(folder) {
			return nil, fault.Usage("move the chart into the project", "%s: %s is outside of the project", watches.File, w.Chart)
		}
		content, err := chart.ReadFolder(filepath.Join(root, filepath.FromSlash(folder)))
		if located, isChart := chart.InFolder(folder, err); isChart {
			return nil, fault.Usage(cmp.Or(fault.HintOf(err), "correct the chart, then repeat the command"), "%v", located)
		}
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(content)) {
			files = append(files, image.Text(path.Join(chartsHome, folder, name), content[name]))
		}
	}
	return files, nil
}
