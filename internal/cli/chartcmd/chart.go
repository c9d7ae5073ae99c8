// Package chartcmd implements operon chart: Helm charts and the operators that run them.
package chartcmd

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/helm/rights"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/hooks/objects"
	"github.com/spf13/cobra"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/strvals"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// New returns the command chart.
func New(a *command.App) *cobra.Command {
	return command.NewGroup("chart", "Check Helm charts and the rights that they need", newValidate(a), newRBAC(a))
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

// subject is a chart with the options to derive its rights.
type subject struct {
	chart   *helmchart.Chart // nil if it cannot be loaded
	err     error            // why
	options rights.Options
}

// subjects are the charts in a folder.
type subjects struct {
	place    string // the folder, as messages name it
	root     string // the folder of the project, or ""
	charts   []subject
	findings []finding.Finding // about watches.yaml
}

// load reads the chart in a folder, or the charts of the watches.yaml there.
func (in *inputs) load(a *command.App, args []string) (subjects, error) {
	s := subjects{place: path.Dir(filepath.ToSlash(a.ProjectFolder(watches.File)))}
	if len(args) > 1 {
		return s, fault.Usage("name one folder at a time", "one folder at most, got %d", len(args))
	}
	if len(args) == 1 {
		s.place = strings.TrimSuffix(args[0], "/")
	}
	o, err := in.options(a)
	if err != nil {
		return s, err
	}
	dir := a.Path(s.place)
	src, err := filestat.ReadFile(filepath.Join(dir, watches.File))
	switch {
	case err == nil:
		s.root = dir
		return s, s.loadWatches(src, o)
	case !errors.Is(err, fs.ErrNotExist):
		return s, fault.Failed("", "%v", err)
	}
	if !hasChart(dir) {
		return s, fault.Usage("name the folder of a chart or of a Helm operator", "%s has neither Chart.yaml nor %s", s.place, watches.File)
	}
	o.Folder = s.place
	if s.place == "." {
		o.Folder = ""
	}
	one := subject{options: o}
	one.chart, one.err = chart.Load(dir)
	s.charts = append(s.charts, one)
	return s, nil
}

// options reads the files that flags name.
func (in *inputs) options(a *command.App) (rights.Options, error) {
	o := rights.Options{Namespaced: in.namespaced}
	for _, name := range in.values {
		content, err := filestat.ReadFile(a.Path(name))
		if err != nil {
			return o, fault.Usage("", "--values: %v", err)
		}
		set, err := rights.ReadValues(name, content)
		if err != nil {
			return o, fault.Usage("write a mapping of values", "%v", err)
		}
		o.Values = append(o.Values, set)
	}
	var all []kinds.CRD
	for _, name := range in.crds {
		read, err := objects.Read(a.Path(name), name)
		if err != nil {
			return o, fault.Usage("", "--crd: %v", err)
		}
		for _, object := range read {
			if !kinds.IsCRD(object.GroupVersionKind()) {
				continue
			}
			crd, err := kinds.FromObject(object)
			if err != nil {
				return o, fault.Usage("", "--crd: %s: %v", name, err)
			}
			all = append(all, crd)
		}
	}
	o.Kinds = kinds.Builtin().With(all...)
	return o, nil
}

// loadWatches loads the charts that watches.yaml names.
func (s *subjects) loadWatches(src []byte, o rights.Options) error {
	list, found, err := watches.Validate(src, func(folder string) bool { return hasChart(filepath.Join(s.root, folder)) })
	if err != nil {
		return err
	}
	s.findings = found
	for _, w := range list {
		if w.Chart == "" || !hasChart(filepath.Join(s.root, w.Chart)) {
			continue // a finding
		}
		one := subject{options: o}
		one.options.Folder = w.Chart
		one.options.Resource.GroupVersionKind = schema.GroupVersionKind{Group: w.Group, Version: w.Version, Kind: w.Kind}
		one.options.Unwatched = w.WatchDependentResources != nil && !*w.WatchDependentResources
		one.options.Overrides = overrides(w.OverrideValues)
		one.chart, one.err = chart.Load(filepath.Join(s.root, w.Chart))
		s.charts = append(s.charts, one)
	}
	return nil
}

// overrides returns the values that watches.yaml sets, as helm-operator reads them. Those that
// depend on the operator's environment are unknown.
func overrides(all map[string]string) map[string]any {
	values := map[string]any{}
	for key, v := range all {
		if strings.Contains(v, "$") || strings.Contains(v, "{{") {
			continue
		}
		_ = strvals.ParseInto(key+"="+v, values) // watches reports invalid keys
	}
	return values
}

func hasChart(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "Chart.yaml"))
	return err == nil
}

// located returns an error of a chart as an error of the command.
func (s subject) located(err error) error {
	if e := (*chart.Error)(nil); errors.As(err, &e) && e.File != "" {
		located := *e
		located.File = path.Join(s.options.Folder, e.File)
		err = &located
	}
	return fault.Usage("correct the chart, or name a file with the values that it requires with --values", "%v", err)
}
