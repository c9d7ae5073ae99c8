package chart

import (
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	syntax "text/template/parse"
	"time"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"helm.sh/helm/v3/pkg/chart"
)

// Release is the value of .Release in templates.
type Release struct {
	Name, Namespace string
	Upgrade         bool // whether the release is an upgrade rather than an installation
}

// Cluster describes the cluster for .Capabilities in templates.
type Cluster struct {
	Version     string   // such as v1.37.0
	APIVersions []string // such as apps/v1 and apps/v1/Deployment
}

// Renderer renders one chart several times. It parses each template once.
type Renderer struct {
	// Lookup is the function lookup of templates. It returns an empty object for what does not exist.
	// nil finds nothing.
	Lookup func(apiVersion, kind, namespace, name string) (map[string]any, error)
	// ReuseKeys makes the functions that generate keys, certificates and random texts return the same
	// ones for the same arguments, because generating them takes longer than all else. RSA keys are
	// replaced by elliptic ones.
	ReuseKeys bool
	// Lenient makes required return StandIn instead of an error, and fail return nothing.
	Lenient bool
	// Now is the function now of templates; nil for the time of this machine.
	Now func() time.Time

	keys   map[string][]reflect.Value
	parsed map[templateFile]map[string]*syntax.Tree
}

// Render executes the templates of a chart with values. It returns the outputs by the paths of
// the templates in the chart, except partials and disabled dependencies. The error is an *Error.
func Render(c *chart.Chart, values map[string]any, r Release, k Cluster) (map[string]string, error) {
	return new(Renderer).Render(c, values, r, k)
}

// Render is like the function Render.
func (re *Renderer) Render(c *chart.Chart, values map[string]any, r Release, k Cluster) (map[string]string, error) {
	s, err := newSelection(c, values)
	if err != nil {
		return nil, err
	}
	data, err := s.data(values, r, k)
	if err != nil {
		return nil, err
	}
	p, err := re.compile(s)
	if err != nil {
		return nil, err
	}
	rendered := map[string]string{}
	for _, t := range s.templates {
		if strings.HasPrefix(path.Base(t.name), "_") {
			continue
		}
		own := data[t.chart]
		own["Template"] = map[string]any{"Name": t.name, "BasePath": t.chart + "/templates"}
		text, err := p.execute(t.name, own)
		if err != nil {
			return nil, templateError(s.chart, err)
		}
		rendered[t.path] = text
	}
	return rendered, nil
}

// pathInChart converts the name of a template to its path in the chart.
func pathInChart(c *chart.Chart, name string) string {
	return strings.TrimPrefix(name, c.ChartFullPath()+"/")
}

// release returns the value of .Release.
func release(r Release) map[string]any {
	revision := 1
	if r.Upgrade {
		revision = 2
	}
	return map[string]any{"Name": r.Name, "Namespace": r.Namespace, "IsUpgrade": r.Upgrade, "IsInstall": !r.Upgrade,
		"Revision": revision, "Service": "Helm"}
}

// APIVersions are the API versions that a cluster serves.
type APIVersions []string

// Has reports whether a cluster serves a version, or a kind of a version.
func (v APIVersions) Has(version string) bool { return slices.Contains(v, version) }

// KubeVersion is the version of a cluster.
type KubeVersion struct{ Version, Major, Minor string }

// String returns the full version.
func (v KubeVersion) String() string { return v.Version }

// GitVersion returns the full version. It is the former name of String.
func (v KubeVersion) GitVersion() string { return v.Version }

// capabilities returns the value of .Capabilities.
func capabilities(k Cluster) any {
	v := KubeVersion{Version: k.Version}
	if parts := strings.SplitN(strings.TrimPrefix(k.Version, "v"), ".", 3); len(parts) == 3 {
		v.Major, v.Minor = parts[0], parts[1]
	}
	type helm struct{ Version, GitCommit, GitTreeState, GoVersion string }
	return struct {
		KubeVersion KubeVersion
		APIVersions APIVersions
		HelmVersion helm
	}{v, k.APIVersions, helm{Version: helmVersion}}
}

var (
	templatePosition = lazyregexp.New(`^template: ([^:]+):(\d+)(?::(\d+))?: `)
	chartMessage     = lazyregexp.New(`(?s)` + messageStart + `(.*)` + messageEnd)
)

// templateError converts an error of text/template to an *Error.
func templateError(c *chart.Chart, err error) error {
	text := err.Error()
	e := &Error{Msg: text}
	if m := templatePosition().FindStringSubmatch(text); m != nil {
		e.File = pathInChart(c, m[1])
		e.Line, _ = strconv.Atoi(m[2])
		e.Column, _ = strconv.Atoi(m[3])
		e.Msg = strings.TrimPrefix(text, m[0])
	}
	if m := chartMessage().FindStringSubmatch(e.Msg); m != nil {
		e.Msg = m[1]
	}
	e.Msg = shortened(strings.Join(strings.Fields(e.Msg), " "))
	return e
}

// maxIncludes is the number of nested calls of include that an error shows.
const maxIncludes = 10

// shortened returns a message without the middle of a long chain of includes, such as a template
// that includes itself.
func shortened(message string) string {
	const call = ": error calling include: "
	steps := strings.Split(message, call)
	if len(steps) <= maxIncludes {
		return message
	}
	return steps[0] + ": [...]" + call + steps[len(steps)-1]
}
