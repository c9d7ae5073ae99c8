package chart

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	syntax "text/template/parse"

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

// scope is the data for the templates of a chart.
type scope map[string]any

// file is a template with its data.
type file struct {
	chart string // the path of its chart, which is the prefix of its name
	text  string
	scope scope
}

// Renderer renders one chart several times. It parses each template once.
type Renderer struct {
	// Lookup is called for each use of the function lookup, which finds nothing. nil does nothing.
	Lookup func(apiVersion, kind, namespace, name string)
	// ReuseKeys makes the functions that generate keys and certificates return the same ones in each
	// rendering for the same arguments, because generating them takes longer than all else.
	ReuseKeys bool

	keys   map[string][]reflect.Value
	parsed map[string]map[string]*syntax.Tree // by the name of the template
}

// Render executes the templates of a chart with values. It returns the outputs by the paths of
// the templates in the chart, except partials and disabled dependencies. The error is an *Error.
func Render(c *chart.Chart, values map[string]any, r Release, k Cluster) (map[string]string, error) {
	return new(Renderer).Render(c, values, r, k)
}

// Render is like the function Render. The chart must be the same in all calls.
func (re *Renderer) Render(c *chart.Chart, values map[string]any, r Release, k Cluster) (map[string]string, error) {
	c = withOwnDependencies(c)
	if err := selectDependencies(c, values, ""); err != nil {
		return nil, err
	}
	if err := importValues(c); err != nil {
		return nil, err
	}
	coalesced, err := coalesce(c, clone(values), false)
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	collect(files, c, scope{"Values": coalesced, "Release": release(r), "Capabilities": capabilities(k)}, true)

	t := template.New("chart").Option("missingkey=zero")
	available := functions(t, re.Lookup)
	if re.ReuseKeys {
		re.reuseKeys(available)
	}
	t.Funcs(available)
	names := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		// Templates of parent charts come last, so that their definitions win.
		return cmp.Or(strings.Count(b, "/")-strings.Count(a, "/"), strings.Compare(b, a))
	})
	for _, name := range names {
		if err := re.parse(t.New(name), files[name].text, available); err != nil {
			return nil, templateError(c, err)
		}
	}
	rendered := map[string]string{}
	for _, name := range names {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		f := files[name]
		f.scope["Template"] = map[string]any{"Name": name, "BasePath": f.chart + "/templates"}
		text, err := execute(t, name, f.scope)
		if err != nil {
			return nil, templateError(c, err)
		}
		rendered[pathInChart(c, name)] = text
	}
	return rendered, nil
}

// parse parses the text of a template, unless an earlier call did. An alias gives a template another
// name, but not another text.
func (re *Renderer) parse(t *template.Template, text string, available template.FuncMap) error {
	trees, known := re.parsed[t.Name()]
	if !known {
		var err error
		if trees, err = syntax.Parse(t.Name(), text, "", "", available, predefined()); err != nil {
			return err
		}
		if re.parsed == nil {
			re.parsed = map[string]map[string]*syntax.Tree{}
		}
		re.parsed[t.Name()] = trees
	}
	for name, tree := range trees {
		if _, err := t.AddParseTree(name, tree); err != nil {
			return err
		}
	}
	return nil
}

// predefined has the names of the functions of text/template.
var predefined = sync.OnceValue(func() map[string]any {
	names := map[string]any{}
	for name := range strings.FieldsSeq("and call eq ge gt html index js le len lt ne not or print printf println slice urlquery") {
		names[name] = true // the parser only looks for the name
	}
	return names
})

// execute renders one template. Missing values are empty in charts, although package template
// prints some of them as "<no value>".
func execute(t *template.Template, name string, data any) (text string, err error) {
	defer func() {
		if r := recover(); r != nil { // sprig functions can panic
			err = fmt.Errorf("template: %s: %v", name, r)
		}
	}()
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return "", err
	}
	return strings.ReplaceAll(b.String(), "<no value>", ""), nil
}

// collect adds the templates of a chart and its dependencies, with their data, to files. It
// returns the data of the chart.
func collect(files map[string]file, c *chart.Chart, parent scope, root bool) scope {
	charts := map[string]any{}
	own := scope{
		"Chart": struct {
			chart.Metadata
			IsRoot bool
		}{*c.Metadata, root},
		"Files": filesOf(c.Files), "Release": parent["Release"], "Capabilities": parent["Capabilities"],
		"Values": parent["Values"], "Subcharts": charts,
	}
	if !root {
		parentValues, _ := parent["Values"].(map[string]any)
		values, isObject := parentValues[c.Name()].(map[string]any)
		if !isObject {
			values = map[string]any{}
		}
		own["Values"] = values
	}
	for _, d := range c.Dependencies() {
		charts[d.Name()] = collect(files, d, own, false)
	}
	library := strings.EqualFold(c.Metadata.Type, "library")
	for _, t := range c.Templates {
		if !library || strings.HasPrefix(path.Base(t.Name), "_") {
			files[path.Join(c.ChartFullPath(), t.Name)] = file{c.ChartFullPath(), string(t.Data), own}
		}
	}
	return own
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
	return struct {
		KubeVersion KubeVersion
		APIVersions APIVersions
		HelmVersion struct{ Version, GitCommit, GitTreeState, GoVersion string }
	}{KubeVersion: v, APIVersions: k.APIVersions, HelmVersion: struct{ Version, GitCommit, GitTreeState, GoVersion string }{Version: helmVersion}}
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
	e.Msg = strings.Join(strings.Fields(e.Msg), " ")
	return e
}
