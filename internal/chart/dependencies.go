package chart

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/operon-dev/operon/internal/fault"
	"helm.sh/helm/v3/pkg/chart"
)

// CheckInstallable reports a library chart, a kubeVersion that no cluster can have, the dependencies that Chart.yaml
// lists and the folder charts/ does not have, and charts that depend on themselves. The error has a hint and is an *Error.
func CheckInstallable(c *chart.Chart) error {
	if isLibrary(c) {
		e := &Error{File: "Chart.yaml", Line: metadataKeys(c)["type"].line, Msg: c.Metadata.Name + " is a library chart: it has only templates for other charts"}
		return withHint("use a chart that depends on it", e)
	}
	if allowed := c.Metadata.KubeVersion; allowed != "" {
		if _, err := semver.NewConstraint(allowed); err != nil {
			e := &Error{File: "Chart.yaml", Line: metadataKeys(c)["kubeVersion"].line, Msg: fmt.Sprintf("kubeVersion %q is not a range of versions, so Helm installs the chart nowhere", allowed)}
			return withHint(`write a range such as ">=1.28.0-0"`, e)
		}
	}
	return checkDependencies(c, []*chart.Chart{c})
}

// isLibrary reports whether a chart only defines templates for those that depend on it.
func isLibrary(c *chart.Chart) bool { return strings.EqualFold(c.Metadata.Type, "library") }

// CheckVersion reports that a chart does not allow the version of Kubernetes, such as v1.37.0, of a cluster.
// The error is an *Error.
func CheckVersion(c *chart.Chart, kubernetes string) error {
	allowed := c.Metadata.KubeVersion
	if allowed == "" {
		return nil
	}
	constraint, err := semver.NewConstraint(allowed)
	version, invalid := semver.NewVersion(kubernetes)
	if err == nil && invalid == nil && constraint.Check(version) {
		return nil
	}
	msg := "the chart needs Kubernetes " + allowed + ", and the cluster has " + kubernetes
	return &Error{File: "Chart.yaml", Line: metadataKeys(c)["kubeVersion"].line, Msg: msg}
}

func checkDependencies(c *chart.Chart, chain []*chart.Chart) error {
	for _, entry := range c.Metadata.Dependencies {
		if err := circular(entry, c, chain); err != nil {
			return err
		}
		if dependency(c, entry) == nil && len(chain) == 1 { // Helm requires only the chart itself's
			return dependencyError(c, entry, "run helm dependency update in the folder of the chart", "the dependency %s %s of %s is missing in charts/", entry.Name, entry.Version, c.Metadata.Name)
		}
	}
	for _, d := range c.Dependencies() {
		if err := checkDependencies(d, append(chain[:len(chain):len(chain)], d)); err != nil {
			return err
		}
	}
	return nil
}

// dependencyError returns an error about an entry in the dependencies of a chart.
func dependencyError(c *chart.Chart, entry *chart.Dependency, hint, format string, args ...any) error {
	e := &Error{File: pathInChart(c.Root(), c.ChartFullPath()+"/Chart.yaml"), Msg: fmt.Sprintf(format, args...)}
	if list := metadataKeys(c)["dependencies"].value; list != nil {
		if i := slices.Index(c.Metadata.Dependencies, entry); i >= 0 && i < len(list.Content) {
			e.Line = list.Content[i].Line
		}
	}
	return withHint(hint, e)
}

// dependency returns the chart in charts/ for an entry of Chart.yaml, or nil.
func dependency(c *chart.Chart, entry *chart.Dependency) *chart.Chart {
	for _, d := range c.Dependencies() {
		if d.Metadata != nil && d.Metadata.Name == entry.Name {
			return d
		}
	}
	return nil
}

// circular reports an entry that one of the charts in the chain satisfies: the chart itself, or
// one that depends on it. A wrapper may have the name of the chart that it wraps, in another
// version.
func circular(entry *chart.Dependency, c *chart.Chart, chain []*chart.Chart) error {
	own := dependency(c, entry)
	i := slices.IndexFunc(chain, func(a *chart.Chart) bool {
		if a.Metadata.Name != entry.Name {
			return false
		}
		if own != nil {
			return own.Metadata.Version == a.Metadata.Version
		}
		constraint, err := semver.NewConstraint(entry.Version)
		version, invalid := semver.NewVersion(a.Metadata.Version)
		return err == nil && invalid == nil && constraint.Check(version) && !isURL(entry.Repository)
	})
	if i < 0 {
		return nil
	}
	var names []string
	for _, a := range chain[i:] {
		names = append(names, a.Metadata.Name)
	}
	return dependencyError(c, entry, "remove one of the dependencies from its Chart.yaml", "the dependencies are circular: %s", strings.Join(append(names, entry.Name), " -> "))
}

// maxNesting is the maximum nesting of dependencies that Fetch downloads.
const maxNesting = 10

// addDependencies adds the missing dependencies of a chart to its files, including indirect ones.
func (f Fetcher) addDependencies(ctx context.Context, fetched *Fetched, chain []*chart.Chart) error {
	c := fetched.Chart
	for _, entry := range c.Metadata.Dependencies {
		if len(chain) > maxNesting {
			return fetched.in(dependencyError(c, entry, "remove one of the dependencies", "more than %d charts depend on each other", maxNesting))
		}
		if err := circular(entry, c, chain); err != nil {
			return fetched.in(err)
		}
		if dependency(c, entry) != nil {
			continue
		}
		d, err := f.dependency(ctx, fetched, entry)
		if err == nil && d.Chart.Metadata.Name != entry.Name { // the name of a loaded chart is no path
			err = fault.Usage("correct its name in Chart.yaml", "the chart in %s is %s", d.Origin, d.Chart.Metadata.Name)
		}
		if err != nil {
			place := fetched.in(dependencyError(c, entry, "", "dependency %s", entry.Name))
			return fault.In(place.Error(), err)
		}
		if err := f.addDependencies(ctx, d, append(chain[:len(chain):len(chain)], d.Chart)); err != nil {
			return err
		}
		folder := "charts/" + d.Chart.Metadata.Name
		if _, taken := fetched.Files[folder+"/Chart.yaml"]; taken {
			return fetched.in(dependencyError(c, entry, "package the chart with its dependencies: helm package --dependency-update", "two versions of dependency %s", entry.Name))
		}
		for name, content := range d.Files {
			fetched.Files[folder+"/"+name] = content
		}
	}
	return nil
}

// dependency fetches a dependency in the version of Chart.lock or, without one, of Chart.yaml.
func (f Fetcher) dependency(ctx context.Context, of *Fetched, entry *chart.Dependency) (*Fetched, error) {
	version := entry.Version
	if of.Chart.Lock != nil {
		for _, locked := range of.Chart.Lock.Dependencies {
			if locked.Name == entry.Name && locked.Repository == entry.Repository {
				version = locked.Version
			}
		}
	}
	switch {
	case strings.HasPrefix(entry.Repository, "file://"):
		folder := filepath.FromSlash(strings.TrimPrefix(entry.Repository, "file://"))
		if !of.isFolder {
			return nil, fault.Usage("package the chart with its dependencies: helm package --dependency-update", "%s is a folder beside the chart, and the chart is an archive", entry.Repository)
		}
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(of.Origin, folder)
		}
		return f.one(ctx, Source{Chart: folder})
	case strings.HasPrefix(entry.Repository, "@"), strings.HasPrefix(entry.Repository, "alias:"):
		r, err := f.configured(strings.TrimPrefix(strings.TrimPrefix(entry.Repository, "@"), "alias:"))
		if err != nil {
			return nil, err
		}
		return f.fromRepository(ctx, r, entry.Name, version)
	case entry.Repository == "":
		return nil, fault.Usage("add the chart to charts/, or its repository to Chart.yaml", "it is not in charts/, and has no repository")
	}
	return f.fromRepository(ctx, f.knownRepository(entry.Repository), entry.Name, version)
}

// knownRepository returns the repository with a URL, with its credentials if helm repo add has
// added it.
func (f Fetcher) knownRepository(address string) repository {
	all, _, _ := f.repositories() // without them, the repository may be public
	for _, r := range all {
		if strings.TrimSuffix(r.URL, "/") == strings.TrimSuffix(address, "/") {
			return r
		}
	}
	return repository{URL: address}
}
