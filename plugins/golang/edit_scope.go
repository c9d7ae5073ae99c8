package golang

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/templates"
	"sigs.k8s.io/controller-tools/pkg/rbac"
)

// rescope limits the manager to the watched namespaces, or lets it watch all of them.
func rescope(e plugin.Event, library libraries.Values, p *scaffold.Plan) error {
	reader, err := namespaceReader(e, library)
	if err != nil {
		return err
	}
	if err := manager.LimitNamespaces(e.Project, reader, p); err != nil {
		return err
	}
	if e.Project.Namespaced && p.Exists("Makefile") && !p.HasBase("Makefile") {
		p.Warn(scaffold.Warning{File: "Makefile", Rule: "watch-namespace",
			Message: "the manager now needs the variable " + manager.WatchVariable + ": set it where you run the manager outside a cluster, such as in make run"})
	}
	return rescopeMarkers(e.Project, p)
}

// namespaceReader returns the function that reads the watched namespaces. It is at the end of
// main.go in operon's own template for namespaced projects.
func namespaceReader(e plugin.Event, library libraries.Values) (string, error) {
	limited := *e.Project
	limited.Namespaced = true
	reader := ""
	data := initValues{Values: library, Project: &limited, Pins: allPins()}
	err := render.Tree(templates.FS, "golang/init", nil, data, func(name string, _ fs.FileMode, content []byte) error {
		if name == project.DefaultMainFile {
			_, reader, _ = strings.Cut(string(content), "\n// watchedNamespaces ")
		}
		return nil
	})
	return "// watchedNamespaces " + reader, err
}

const rbacMarker = "+kubebuilder:rbac:"

// rescopeMarkers adds the project's namespace to the RBAC markers of namespaced
// resources, or removes it. It does not change markers of cluster-scoped resources.
func rescopeMarkers(c *project.Config, p *scaffold.Plan) error {
	names, err := source.ModuleFiles(p)
	if err != nil {
		return err
	}
	for _, name := range names {
		src, err := p.Read(name)
		if err != nil {
			return err
		}
		if source.IsTest(name) || !strings.Contains(string(src), rbacMarker) {
			continue
		}
		err = source.Edit(p, name, func(f *goedit.File) error {
			return f.Comments(func(line string) string {
				marker := strings.TrimSpace(strings.TrimPrefix(line, "//"))
				args, ok := strings.CutPrefix(marker, rbacMarker)
				if !ok {
					return line
				}
				next, warning := rescopeMarker(c, args)
				if warning != "" {
					p.Warn(scaffold.Warning{File: name, Rule: "rbac-scope", Message: marker + ": " + warning})
				}
				return strings.Replace(line, args, next, 1)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rescopeMarker returns the arguments of an RBAC marker for the project's scope, and a
// warning for the user or "". Arguments that controller-gen rejects stay.
func rescopeMarker(c *project.Config, args string) (next, warning string) {
	own := "namespace=" + c.Namespace()
	list := markerArguments(args)
	if !c.Namespaced {
		isOwn := func(arg string) bool { return strings.ReplaceAll(strings.TrimSpace(arg), `"`, "") == own }
		return strings.Join(slices.DeleteFunc(list, isOwn), ","), ""
	}
	at := slices.IndexFunc(list, func(arg string) bool { return strings.HasPrefix(strings.TrimSpace(arg), "resources=") })
	parsed, err := rbac.RuleDefinition.Parse(rbacMarker + args)
	limitedAlready := func(arg string) bool { return strings.HasPrefix(strings.TrimSpace(arg), "namespace=") }
	if at < 0 || err != nil || slices.ContainsFunc(list, limitedAlready) {
		return args, ""
	}
	rule := parsed.(rbac.Rule)
	if len(rule.URLs) > 0 {
		return args, ""
	}
	var limited, cluster, unknown []string
	for _, resource := range rule.Resources {
		namespaced, known := scopeIn(c, rule.Groups, resource)
		switch {
		case !known:
			unknown = append(unknown, resource)
		case namespaced:
			limited = append(limited, resource)
		default:
			cluster = append(cluster, resource)
		}
	}
	switch {
	case len(cluster) > 0 && len(limited)+len(unknown) > 0:
		return args, fmt.Sprintf("%s are cluster-scoped, and %s are namespaced: write a marker for each, the second one with %s",
			strings.Join(cluster, ", "), strings.Join(append(limited, unknown...), ", "), own)
	case len(cluster) > 0:
		return args, ""
	case len(unknown) > 0:
		warning = fmt.Sprintf("assumed that %s are namespaced; if they are cluster-scoped, remove %s", strings.Join(unknown, ", "), own)
	}
	return strings.Join(slices.Insert(list, at, own), ","), warning
}

// markerArguments splits the arguments of a marker at its commas. Those in braces, which enclose lists, and in
// quotes belong to a value.
func markerArguments(args string) []string {
	var list []string
	start, depth, quote := 0, 0, rune(0)
	for i, r := range args {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '`' || r == '\'':
			quote = r
		case r == '{':
			depth++
		case r == '}':
			depth--
		case r == ',' && depth == 0:
			list, start = append(list, args[start:i]), i+1
		}
	}
	return append(list, args[start:])
}

// scopeIn returns the scope of a resource in the first of the groups that has it.
func scopeIn(c *project.Config, groups []string, resource string) (namespaced, known bool) {
	if len(groups) == 0 {
		groups = []string{""}
	}
	for _, group := range groups {
		if group == "core" {
			group = ""
		}
		if namespaced, known = c.ScopeOf(group, resource); known {
			return namespaced, true
		}
	}
	return false, false
}
