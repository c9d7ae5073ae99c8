package chart

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/operon-dev/operon/internal/fault"
	"helm.sh/helm/v3/pkg/chart"
)

// CheckDependencies reports the dependencies that Chart.yaml lists and the folder charts/ does not
// have, and charts that depend on themselves. It names the charts.
func CheckDependencies(c *chart.Chart) error { return checkDependencies(c, []*chart.Chart{c}) }

func checkDependencies(c *chart.Chart, chain []*chart.Chart) error {
	for _, entry := range c.Metadata.Dependencies {
		if err := circular(entry, c, chain); err != nil {
			return err
		}
		if dependency(c, entry) == nil && len(chain) == 1 { // Helm requires only those of the chart itself
			return fault.Usage("run helm dependency update in the folder of the chart", "Chart.yaml: the dependency %s %s of %s is missing in charts/", entry.Name, entry.Version, c.Metadata.Name)
		}
	}
	for _, d := range c.Dependencies() {
		if err := checkDependencies(d, append(chain[:len(chain):len(chain)], d)); err != nil {
			return err
		}
	}
	return nil
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
	return fault.Usage("remove one of the dependencies from its Chart.yaml", "Chart.yaml: the dependencies are circular: %s", strings.Join(append(names, entry.Name), " -> "))
}

// maxNesting is the maximum nesting of dependencies that Fetch downloads.
const maxNesting = 10

// addDependencies adds the missing dependencies of a chart to its files, with their own ones.
func (f Fetcher) addDependencies(ctx context.Context, fetched *Fetched, chain []*chart.Chart) error {
	c := fetched.Chart
	if len(chain) > maxNesting {
		return fault.Usage("remove one of the dependencies", "%s: Chart.yaml: more than %d charts depend on each other", fetched.Origin, maxNesting)
	}
	for _, entry := range c.Metadata.Dependencies {
		if err := circular(entry, c, chain); err != nil {
			return fault.In(fetched.Origin, err)
		}
		if dependency(c, entry) != nil {
			continue
		}
		d, err := f.dependency(ctx, fetched, entry)
		if err == nil && d.Chart.Metadata.Name != entry.Name { // the name of a loaded chart is no path
			err = fault.Usage("correct its name in Chart.yaml", "the chart in %s is %s", d.Origin, d.Chart.Metadata.Name)
		}
		if err != nil {
			return fault.In(fetched.Origin+": Chart.yaml: dependency "+entry.Name, err)
		}
		if err := f.addDependencies(ctx, d, append(chain[:len(chain):len(chain)], d.Chart)); err != nil {
			return err
		}
		folder := "charts/" + d.Chart.Metadata.Name
		if _, taken := fetched.Files[folder+"/Chart.yaml"]; taken {
			return fault.Usage("package the chart with its dependencies: helm package --dependency-update", "%s: Chart.yaml: two versions of dependency %s", fetched.Origin, entry.Name)
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
		if isURL(of.Origin) || strings.HasPrefix(of.Origin, "oci://") || strings.HasSuffix(of.Origin, "gz") {
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
