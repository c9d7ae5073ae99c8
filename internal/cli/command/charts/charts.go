// Package charts has what commands of Helm operators share: fetching the chart of a kind, and which kind
// an entry of watches.yaml is for.
package charts

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/spf13/cobra"
)

// HelmChart is the flag for the chart of a kind: a folder, a file or a URL. The plugin for
// charts declares it and the two below.
const HelmChart = "helm-chart"

const (
	helmChartRepo    = "helm-chart-repo"
	helmChartVersion = "helm-chart-version"
)

// Flags are the names of the flags for the chart of a kind.
var Flags = []string{HelmChart, helmChartRepo, helmChartVersion}

// Fetch fetches the chart that the flags of cmd name, for the project in a folder. Without one,
// it returns the starter chart of the plugin.
func Fetch(ctx context.Context, a *command.App, cmd *cobra.Command, root string) (*plugin.Chart, error) {
	text := func(flag string) string { return cmd.Flags().Lookup(flag).Value.String() }
	s := chart.Source{Chart: text(HelmChart), Repository: text(helmChartRepo), Version: text(helmChartVersion)}
	switch {
	case s.Chart == "" && s.Repository != "":
		return nil, fault.Usage("add --"+HelmChart, "--%s needs the name of a chart", helmChartRepo)
	case s.Chart == "" && s.Version != "":
		return nil, fault.Usage("add --"+HelmChart, "--%s needs the name of a chart", helmChartVersion)
	case s.Chart == "":
		return &plugin.Chart{}, nil
	case s.Version != "" && isSingle(a, s):
		return nil, fault.Usage("remove the flag", "--%s applies to charts of repositories and registries, and %s is a single chart", helmChartVersion, s.Chart)
	}
	return fetch(ctx, a, s, root)
}

// FetchOrigin fetches a chart again from where it comes from, in a version or a constraint; "" is the
// newest release.
func FetchOrigin(ctx context.Context, a *command.App, o project.ChartOrigin, version, root string) (*plugin.Chart, error) {
	s := chart.Source{Chart: o.Chart, Repository: o.Repository, Version: version}
	if o.Repository == "" && strings.HasPrefix(o.Chart, ".") {
		s.Chart = a.ProjectFolder(o.Chart)
	}
	if version != "" && isSingle(a, s) {
		if o.Version == "" || !strings.Contains(o.Chart, o.Version) {
			return nil, fault.Usage("remove the flag", "--version applies to charts of repositories and registries, and %s is a single chart", s.Chart)
		}
		s.Chart, s.Version = strings.ReplaceAll(s.Chart, o.Version, version), "" // such as galley-1.0.0.tgz
	}
	return fetch(ctx, a, s, root)
}

// isSingle reports whether a source is one chart, and not all versions of a chart.
func isSingle(a *command.App, s chart.Source) bool {
	if s.Repository != "" || strings.HasPrefix(s.Chart, "oci://") {
		return false
	}
	_, missing := os.Stat(a.Path(s.Chart))
	return missing == nil || strings.Contains(s.Chart, "://") || strings.HasPrefix(s.Chart, ".")
}

func fetch(ctx context.Context, a *command.App, s chart.Source, root string) (*plugin.Chart, error) {
	fetched, err := chart.Fetcher{Dir: a.Dir, Getenv: a.Getenv}.Fetch(ctx, s)
	if err != nil {
		return nil, err
	}
	return &plugin.Chart{Name: fetched.Chart.Name(), Files: fetched.Files, Origin: originOf(a, s, fetched.Chart.Metadata.Version, root)}, nil
}

// originOf returns what PROJECT records about a source.
func originOf(a *command.App, s chart.Source, version, root string) *project.ChartOrigin {
	o := &project.ChartOrigin{Chart: s.Chart, Repository: withoutUser(s.Repository), Version: version}
	switch {
	case o.Repository != "":
	case strings.HasPrefix(s.Chart, "oci://"):
		named, tag := s.Chart, strings.LastIndex(s.Chart, ":")
		if tag > strings.LastIndex(named, "/") && !strings.Contains(named, "@") {
			o.Chart = named[:tag]
		}
	case strings.Contains(s.Chart, "://"):
		o.Chart = withoutUser(s.Chart)
	default:
		if _, err := os.Stat(a.Path(s.Chart)); err == nil {
			o.Chart = relative(a.Path(s.Chart), root)
		}
	}
	return o
}

// relative returns the path of a file as PROJECT records it: relative to the project, with slashes.
func relative(name, root string) string {
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return filepath.ToSlash(name)
	}
	if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, ".") {
		rel = "./" + rel // it differs from REPO/NAME
	}
	return rel
}

// withoutUser returns a URL without credentials.
func withoutUser(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return text
	}
	u.User = nil
	return u.String()
}

// CompleteKind sets the group, version and kind that the user did not name, if the kind has a
// chart. Without any of them, it is the kind whose chart comes from the same place. Otherwise, the
// names are those that operator-sdk takes.
func CompleteKind(r *project.Resource, c *plugin.Chart, p command.Project) error {
	if c.Name == "" {
		return nil
	}
	if r.Group+r.Version+r.Kind == "" {
		known, err := kindsFrom(c.Origin, p)
		if err != nil {
			return err
		}
		if len(known) > 1 {
			return fault.Usage("add --group, --version and --kind", "%s and %s have this chart", known[0].Kind, known[1].Kind)
		}
		if len(known) == 1 {
			r.Group, r.Version, r.Kind = known[0].Group, known[0].Version, known[0].Kind
			return nil
		}
	}
	r.Group, r.Version, r.Kind = cmp.Or(r.Group, "charts"), cmp.Or(r.Version, "v1alpha1"), cmp.Or(r.Kind, project.KindName(c.Name))
	return nil
}

// kindsFrom returns the kinds in PROJECT whose charts come from the same place.
func kindsFrom(origin *project.ChartOrigin, p command.Project) ([]project.Resource, error) {
	origins, err := p.Config.ChartOrigins()
	if err != nil || len(origins) == 0 {
		return []project.Resource{}, err
	}
	list, _, err := ReadWatches(p.Root)
	if err != nil {
		return nil, err
	}
	place := func(o project.ChartOrigin) string {
		if o.Version != "" {
			o.Chart = strings.ReplaceAll(o.Chart, o.Version, "*") // in the name of an archive
		}
		return o.Repository + " " + o.Chart
	}
	kinds := []project.Resource{}
	for _, w := range list {
		if recorded, ok := origins[w.Chart]; ok && place(recorded) == place(*origin) {
			if r := ResourceOf(w, p.Config); r != nil {
				kinds = append(kinds, *r)
			}
		}
	}
	return kinds, nil
}

// ReadWatches reads the watches.yaml of a project, checks that the charts exist, and returns the file, too.
func ReadWatches(root string) (list []watches.Watch, src []byte, err error) {
	if src, err = input.ReadFile(filepath.Join(root, watches.File), input.Text); err != nil {
		return nil, nil, fault.Failed("restore it from version control", "cannot read %s: %v", watches.File, fault.Reason(err))
	}
	list, err = watches.Read(src, func(folder string) bool {
		_, err := os.Stat(filepath.Join(root, folder, "Chart.yaml"))
		return err == nil
	})
	return list, src, err
}

// ResourceOf returns the resource in PROJECT for an entry of watches.yaml, or nil.
func ResourceOf(w watches.Watch, c *project.Config) *project.Resource {
	i := slices.IndexFunc(c.Resources, func(r project.Resource) bool {
		return r.QualifiedGroup() == w.Group && r.Version == w.Version && r.Kind == w.Kind
	})
	if i < 0 {
		return nil
	}
	return &c.Resources[i]
}
