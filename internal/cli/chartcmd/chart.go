// Package chartcmd implements operon chart: Helm charts and the operators that run them.
package chartcmd

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/rbac"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

// New returns the command chart.
func New(a *command.App) *cobra.Command {
	return command.NewGroup("chart", "Generate, validate, test and update Helm charts", newGenerate(a), newValidate(a), newTest(a), newRBAC(a), newUpdate(a))
}

// inputs are the flags that commands about charts share.
type inputs struct {
	values     []string
	crds       []string
	namespaced bool
}

func (in *inputs) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&in.values, "values", nil, "`file` with values that custom resources may have; may be repeated")
	f.StringArrayVar(&in.crds, "crd", nil, "`file` or folder with CRDs of objects in the chart; may be repeated")
	f.BoolVar(&in.namespaced, "namespaced", false, "the operator watches its own namespace only")
	cmd.ValidArgsFunction = command.FolderArgument
}

// subject is a chart with the options to derive its permissions.
type subject struct {
	watch   watches.Watch    // empty without watches.yaml
	chart   *helmchart.Chart // nil if it cannot be loaded
	err     error            // why
	options rbac.Options
	samples []sample // of its kind
}

// subjects are the charts in a folder.
type subjects struct {
	place    string          // the folder, as messages name it
	dir      string          // its path
	root     string          // the folder with watches.yaml, or ""
	config   *project.Config // of the folder; empty without PROJECT
	charts   []subject
	findings []finding.Finding // about watches.yaml
	own      bool              // the chart installs the operator of the project, which is in Go
}

// forHelmOperators is the hint of commands for the charts that an operator installs.
const forHelmOperators = "run the command in a project of operon init --plugins helm"

// load reads the chart in a folder, or the charts of the watches.yaml there.
func (in *inputs) load(a *command.App, args []string) (subjects, error) {
	s := subjects{place: path.Dir(filepath.ToSlash(a.ProjectFolder(watches.File)))}
	if len(args) > 1 {
		return s, fault.Usage("name one folder at a time", "one folder at most, got %d", len(args))
	}
	if len(args) == 1 {
		s.place = strings.TrimSuffix(args[0], "/")
	}
	s.dir = a.Path(s.place)
	var err error
	if info, err := os.Stat(s.dir); err == nil && !info.IsDir() {
		return s, fault.Usage("name the folder of a chart or of a Helm operator", "%s is not a folder", s.place)
	}
	if s.config, err = readConfig(s.dir); err != nil {
		return s, err
	}
	if err := s.findOwn(a); err != nil {
		return s, err
	}
	o, err := in.options(a, path.Join(s.place, crdBases))
	if err != nil {
		return s, err
	}
	src, err := input.ReadFile(filepath.Join(s.dir, watches.File), input.Text)
	switch {
	case err == nil:
		s.root = s.dir
		return s, s.loadWatches(src, o)
	case !errors.Is(err, fs.ErrNotExist):
		return s, err
	}
	if !hasChart(s.dir) && s.config.Version != "" && !a.HasCharts(s.config) {
		hint := "name the folder of a chart, or " + forHelmOperators
		if a.HasGo(s.config) {
			hint = "name the folder of a chart, or add one for this operator: operon edit --plugins helm"
		}
		return s, fault.Usage(hint, "this project does not install charts")
	}
	if !hasChart(s.dir) {
		return s, fault.Usage("name the folder of a chart or of a Helm operator", "%s has neither Chart.yaml nor %s", s.place, watches.File)
	}
	o.Folder = s.place
	if s.place == "." {
		o.Folder = ""
	}
	one := subject{options: o}
	one.chart, one.err = chart.Load(s.dir)
	s.charts = append(s.charts, one)
	return s, nil
}

// findOwn finds the chart that installs the operator of a Go project, if the folder is that chart or the project.
func (s *subjects) findOwn(a *command.App) error {
	root, err := project.FindRoot(s.dir)
	if err != nil {
		return nil //nolint:nilerr // the folder is outside of projects
	}
	config, err := readConfig(root)
	if err != nil {
		return nil //nolint:nilerr // load has read the PROJECT of its folder: this PROJECT is in a folder above
	}
	l, made := a.Catalogue.Chart(config)
	if !made {
		return nil
	}
	folder, err := l.Chart(config)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(s.dir)
	switch dir {
	case filepath.Join(root, filepath.FromSlash(folder)):
		s.own = true
	case root:
		s.own, s.place, s.dir = true, path.Join(s.place, folder), filepath.Join(s.dir, filepath.FromSlash(folder))
	}
	return err
}

// name is the name of the folder.
func (s subjects) name() string {
	if dir, err := filepath.Abs(s.dir); err == nil && s.place == "." {
		return filepath.Base(dir)
	}
	return s.place
}

// readConfig reads PROJECT in a folder. A folder without the file has an empty configuration.
func readConfig(dir string) (*project.Config, error) {
	src, err := input.ReadFile(filepath.Join(dir, project.File), input.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return &project.Config{}, nil
	}
	if err != nil {
		return nil, err
	}
	return command.ParseConfig(src)
}

// crdBases is the folder of a project with the CRDs of its kinds.
const crdBases = "config/crd/bases"

// options reads the files that flags name, and the CRDs in a folder of the project, if it exists.
func (in *inputs) options(a *command.App, bases string) (rbac.Options, error) {
	o := rbac.Options{Namespaced: in.namespaced}
	for _, name := range in.values {
		content, err := input.ReadFile(a.Path(name), input.Text)
		if err != nil {
			return o, fault.Usage("name a file with values of the chart", "--values: %v", err)
		}
		set, err := rbac.ReadValues(name, content)
		if err != nil {
			return o, fault.Usage("write a mapping of values", "%v", err)
		}
		o.Values = append(o.Values, set)
	}
	var all []kubeapi.CRD
	files := in.crds
	if _, err := os.Stat(a.Path(bases)); err == nil {
		files = append([]string{bases}, files...)
	}
	for _, name := range files {
		read, err := objects.Read(a.Path(name), name)
		if err != nil {
			return o, fault.In("CRDs", err)
		}
		for _, object := range read {
			if !kubeapi.IsCRD(object.GroupVersionKind()) {
				continue
			}
			crd, err := kubeapi.ReadCRD(object)
			if err != nil {
				return o, fault.Usage("correct the CRD", "%s: %v", name, err)
			}
			all = append(all, crd)
		}
	}
	o.Kinds = kubeapi.Builtin().With(all...)
	return o, nil
}

// loadWatches loads the charts that watches.yaml names.
func (s *subjects) loadWatches(src []byte, o rbac.Options) error {
	list, found, err := watches.Validate(src, func(folder string) bool { return hasChart(filepath.Join(s.root, folder)) })
	if err != nil {
		return err
	}
	s.findings = found
	for _, w := range list {
		if w.Chart == "" || !hasChart(filepath.Join(s.root, w.Chart)) {
			continue // a finding
		}
		one := subject{watch: w, options: rbac.OfWatch(w, s.config, o.Kinds)}
		one.options.Values = o.Values
		one.options.Namespaced = one.options.Namespaced || o.Namespaced
		one.chart, one.err = chart.Load(filepath.Join(s.root, w.Chart))
		s.charts = append(s.charts, one)
	}
	return nil
}

func hasChart(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "Chart.yaml"))
	return err == nil
}

// located returns an error of a chart as an error of the command.
func (s subject) located(err error) error {
	located, _ := chart.InFolder(s.options.Folder, err)
	return fault.Usage(cmp.Or(fault.HintOf(err), "correct the chart, or name a file with the values that it requires with --values"), "%v", located)
}
