package marker

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/gobuffalo/flect"
	"github.com/operon-dev/operon/internal/scaffold"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// webhook returns the warnings about a webhook marker. The library writes its values into the configuration as they are,
// and omits an unknown reinvocationPolicy. all are the markers of the package, and files its files.
func (m *marker) webhook(all []*marker, files []*ast.File) []scaffold.Warning {
	c, ok := m.config()
	if !ok {
		return nil // reported as an error by the generator
	}
	warnings := m.groupVersions(c.Groups, ruleWebhookGroup)
	warn := func(key, value, rule, problem string) {
		warnings = append(warnings, scaffold.Warning{Column: m.offset(key, value), Rule: rule, Message: problem})
	}
	word := func(problem, key, value, known string) {
		lower := strings.ToLower(strings.ReplaceAll(known, " or ", ", "))
		if !slices.Contains(strings.Split(lower, ", "), strings.ToLower(value)) && !strings.Contains(c.Patch, key) {
			warn(key, value, ruleWebhookValue, fmt.Sprintf("%s %s=%s; write %s", problem, key, cmp.Or(value, `""`), known))
		}
	}
	word("API servers refuse", "failurePolicy", c.FailurePolicy, "Fail or Ignore")
	if !strings.Contains(c.Patch, "rules") {
		for _, verb := range c.Verbs {
			word("API servers refuse", "verbs", verb, "create, update, delete, connect or *")
		}
	}
	switch {
	case c.ReinvocationPolicy != "" && !c.Mutating:
		warn("reinvocationPolicy", c.ReinvocationPolicy, ruleIgnored, "reinvocationPolicy has no effect on a validating webhook; delete it")
	case c.ReinvocationPolicy != "":
		word("controller-gen ignores", "reinvocationPolicy", c.ReinvocationPolicy, "Never or IfNeeded")
	}
	if served := unserved(c, all, files); served != "" {
		warn("path", c.Path, ruleWebhookPath, fmt.Sprintf("no webhook serves path=%s: the one for these resources in this package serves %s; "+
			"write that path, or add %s(%q) to its builder", c.Path, served, customPath(c.Mutating), c.Path))
	}
	return warnings
}

// config returns the arguments of a webhook marker.
func (m *marker) config() (c webhook.Config, ok bool) {
	if m.name != "+"+webhook.ConfigDefinition.Name || !m.used {
		return c, false
	}
	value, err := webhook.ConfigDefinition.Parse(m.text)
	c, ok = value.(webhook.Config)
	return c, ok && err == nil
}

func customPath(mutating bool) string {
	if mutating {
		return "WithDefaulterCustomPath"
	}
	return "WithValidatorCustomPath"
}

// unserved returns the path of the webhook for which a marker is surely meant, if the marker has another one, or "". A
// marker can also be for a handler that other code registers: so the builder of controller-runtime must be in the
// package, without another marker for its path, and no code of the package may name the path of the marker.
func unserved(c webhook.Config, all []*marker, files []*ast.File) string {
	if c.Path == "" || len(c.Groups) != 1 || len(c.Versions) != 1 {
		return ""
	}
	group, _, _ := strings.Cut(strings.ReplaceAll(c.Groups[0], ".", "-"), "/")
	if group == "core" {
		group = ""
	}
	served := ""
	for _, b := range builders(files) {
		prefix, suffix := "/validate-"+group+"-", "-"+strings.ToLower(b.kind)
		if c.Mutating {
			prefix = "/mutate-" + group + "-"
		}
		path, serves := b.paths[c.Mutating]
		if !serves || !slices.Contains(c.Resources, flect.Pluralize(strings.ToLower(b.kind))) {
			continue
		}
		version, ofGroup := strings.CutPrefix(c.Path, prefix)
		version, ofKind := strings.CutSuffix(version, suffix)
		if path == "" && ofGroup && ofKind && versionLike().MatchString(version) || served != "" {
			return "" // also for two builders of one kind
		}
		if served = path; path == "" {
			served = prefix + c.Versions[0] + suffix
		}
	}
	claimed := slices.ContainsFunc(all, func(m *marker) bool {
		other, ok := m.config()
		return ok && other.Mutating == c.Mutating && other.Path == served
	})
	if strings.Contains(served, "*") || claimed || writes(files, c.Path) {
		return ""
	}
	return served
}

// writes reports whether code has a text as a literal.
func writes(files []*ast.File, text string) (found bool) {
	quoted := strconv.Quote(text)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			lit, is := n.(*ast.BasicLit)
			found = found || is && (lit.Value == quoted || lit.Value == "`"+text+"`")
			return !found
		})
	}
	return found
}

// builder is a builder of controller-runtime for the webhooks of a kind, whose calls are one expression.
type builder struct {
	kind  string
	paths map[bool]string // by whether the webhook is mutating: its own path, or "" for the default
}

// builders returns the builders in files. It omits those with a kind or a path that the code computes.
func builders(files []*ast.File) (all []builder) {
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && callee(call) == "Complete" {
				if b, ok := built(call); ok {
					all = append(all, b)
				}
			}
			return true
		})
	}
	return all
}

// built reads the calls of a builder from the last one to the first.
func built(call *ast.CallExpr) (b builder, ok bool) {
	b.paths = map[bool]string{}
	custom := map[string]string{}
	for {
		name := callee(call)
		switch {
		case name == "WithDefaulter" || name == "WithCustomDefaulter":
			b.paths[true] = ""
		case name == "WithValidator" || name == "WithCustomValidator":
			b.paths[false] = ""
		case strings.HasSuffix(name, "CustomPath") && len(call.Args) == 1:
			lit, is := call.Args[0].(*ast.BasicLit)
			if !is {
				return b, false
			}
			custom[name], _ = strconv.Unquote(lit.Value) // the parser checked it
		case name == "For" && len(call.Args) == 1:
			b.kind = pointee(call.Args[0])
		case name == "NewWebhookManagedBy" || name == "WebhookManagedBy":
			if len(call.Args) > 1 { // since controller-runtime v0.23
				b.kind = pointee(call.Args[1])
			}
			for mutating := range b.paths {
				b.paths[mutating] = custom[customPath(mutating)] + custom["WithCustomPath"]
			}
			return b, b.kind != ""
		}
		sel, isMethod := call.Fun.(*ast.SelectorExpr)
		if !isMethod {
			return b, false
		}
		if call, isMethod = sel.X.(*ast.CallExpr); !isMethod {
			return b, false
		}
	}
}

// callee returns the name of the function or method that is called.
func callee(call *ast.CallExpr) string { return lastName(call.Fun) }

// pointee returns the name of T for &T{}, or "".
func pointee(v ast.Expr) string {
	if u, is := v.(*ast.UnaryExpr); is {
		if lit, is := u.X.(*ast.CompositeLit); is {
			return lastName(lit.Type)
		}
	}
	return ""
}
