package marker

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"sigs.k8s.io/controller-tools/pkg/rbac"
)

const (
	ruleWrongGroup   = "rbac-wrong-group"   // a resource of Kubernetes is in none of the API groups
	ruleMissingWatch = "rbac-missing-watch" // a controller watches a resource without the permission
)

// builtinGroups returns the API groups of Kubernetes by resource. The group of pods is "".
var builtinGroups = sync.OnceValue(func() map[string][]string {
	groups := map[string][]string{}
	for _, k := range project.BuiltinKinds() {
		groups[k.Plural] = append(groups[k.Plural], groupOf(k))
	}
	return groups
})

func groupOf(k project.CoreKind) string { return normal(k.Resource().QualifiedGroup()) }

// normal returns the API group of a rule: core is another name of "".
func normal(group string) string {
	if group == "core" {
		return ""
	}
	return group
}

// rule returns the arguments of an RBAC marker.
func (m *marker) rule() (r rbac.Rule, ok bool) {
	if m.name != "+"+rbac.RuleDefinition.Name || !m.used {
		return r, false
	}
	value, err := rbac.RuleDefinition.Parse(m.text)
	r, ok = value.(rbac.Rule)
	return r, ok && err == nil
}

// permission returns the warnings about an RBAC marker. all are the markers of the package, and files its files.
func (m *marker) permission(all []*marker, files []*ast.File) []scaffold.Warning {
	r, ok := m.rule()
	if !ok {
		return nil // reported as an error by the generator
	}
	warnings := append(m.groupVersions(r.Groups, ruleGroupVersion), m.wrongGroups(r)...)
	for k := range watched(files) {
		first := slices.IndexFunc(all, func(m *marker) bool { return m.grants(k, "") })
		if first < 0 || all[first] != m || slices.ContainsFunc(all, func(m *marker) bool { return m.grants(k, "watch") }) {
			continue // without a marker in the package, another package can have it
		}
		warnings = append(warnings, scaffold.Warning{Column: m.offset("verbs", strings.Join(r.Verbs, ";")), Rule: ruleMissingWatch,
			Message: fmt.Sprintf("a controller of this package watches %s, and the markers of the package lack the verbs list and watch", k.Plural)})
	}
	return warnings
}

// wrongGroups returns warnings about resources of Kubernetes that are in none of the rule's groups, if all of these
// are groups of Kubernetes.
func (m *marker) wrongGroups(r rbac.Rule) (warnings []scaffold.Warning) {
	for _, g := range r.Groups {
		if !slices.ContainsFunc(project.BuiltinKinds(), func(k project.CoreKind) bool { return groupOf(k) == normal(g) }) {
			return nil
		}
	}
	for _, resource := range r.Resources {
		plural, _, _ := strings.Cut(resource, "/")
		right := builtinGroups()[plural]
		isBuiltin := slices.ContainsFunc(r.Groups, func(g string) bool { return slices.Contains(right, normal(g)) })
		if len(right) == 0 || len(r.Groups) == 0 || isBuiltin {
			continue
		}
		write := right[0]
		if write == "" {
			write = `""`
		}
		warnings = append(warnings, scaffold.Warning{Column: m.offset("resources", resource), Rule: ruleWrongGroup,
			Message: fmt.Sprintf("the API group %s has no resource %s, so the rule allows nothing; write groups=%s", quoted(r.Groups), plural, write)})
	}
	return warnings
}

func quoted(groups []string) string {
	var all []string
	for _, g := range groups {
		all = append(all, strconv.Quote(g))
	}
	return strings.Join(all, " or ")
}

// grants reports whether an RBAC marker is about a kind and, unless the verb is empty, allows the verb.
func (m *marker) grants(k watchedKind, verb string) bool {
	r, ok := m.rule()
	has := func(list []string, wanted string) bool {
		return slices.Contains(list, wanted) || slices.Contains(list, "*")
	}
	return ok && has(r.Resources, k.Plural) && (verb == "" || has(r.Verbs, verb)) &&
		slices.ContainsFunc(r.Groups, func(g string) bool { return g == "*" || normal(g) == k.Group })
}

// watchedKind is a kind of Kubernetes that a controller watches.
type watchedKind struct{ Group, Plural string }

// watched returns the kinds of Kubernetes in calls of For, Owns and Watches of a builder.
func watched(files []*ast.File) map[watchedKind]bool {
	all := map[watchedKind]bool{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if is && slices.Contains([]string{"NewWebhookManagedBy", "WebhookManagedBy"}, callee(first(call))) {
				return false // its For watches nothing
			}
			if !is || len(call.Args) == 0 || !slices.Contains([]string{"For", "Owns", "Watches"}, callee(call)) {
				return true
			}
			for _, k := range project.BuiltinKinds() {
				if k.Kind == pointee(call.Args[0]) && imports(f, call.Args[0], k.Path) {
					all[watchedKind{groupOf(k), k.Plural}] = true
				}
			}
			return true
		})
	}
	return all
}

// first returns the first call of a chain.
func first(call *ast.CallExpr) *ast.CallExpr {
	if sel, is := call.Fun.(*ast.SelectorExpr); is {
		if before, is := sel.X.(*ast.CallExpr); is {
			return first(before)
		}
	}
	return call
}

// imports reports whether a value such as &appsv1.Deployment{} is of a package.
func imports(f *ast.File, value ast.Expr, of string) bool {
	sel, is := value.(*ast.UnaryExpr).X.(*ast.CompositeLit).Type.(*ast.SelectorExpr)
	if !is {
		return false
	}
	pkg, is := sel.X.(*ast.Ident)
	return is && slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool {
		name := path.Base(of)
		if s.Name != nil {
			name = s.Name.Name
		}
		return s.Path.Value == strconv.Quote(of) && name == pkg.Name
	})
}
