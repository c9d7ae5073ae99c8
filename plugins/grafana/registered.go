package grafana

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/scaffold"
)

// constructors are the functions of package prometheus that make metrics, without "Vec" and "Func". promauto
// has the same names.
var constructors = map[string]string{"NewCounter": "counter", "NewGauge": "gauge", "NewHistogram": "histogram", "NewSummary": "gauge"}

// registered returns the metrics that the code of the project makes with package prometheus, sorted by name.
// Names that are not texts in the code are unknown.
func registered(p *scaffold.Plan) ([]metric, error) {
	files, err := p.Below(".")
	if err != nil {
		return nil, err
	}
	var all []metric
	for _, name := range files {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "vendor/") || !p.Exists(name) {
			continue
		}
		src, err := p.Read(name)
		if err != nil {
			return nil, err
		}
		all = append(all, metricsIn(src)...)
	}
	slices.SortFunc(all, func(a, b metric) int { return strings.Compare(a.Metric, b.Metric) })
	return slices.Compact(all), nil
}

// metricsIn returns the metrics that a Go file makes.
func metricsIn(src []byte) (all []metric) {
	if !strings.Contains(string(src), "client_golang/prometheus") {
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		fun, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		kind := constructors[strings.TrimSuffix(strings.TrimSuffix(fun.Sel.Name, "Vec"), "Func")]
		options, ok := call.Args[0].(*ast.CompositeLit)
		if kind == "" || !ok {
			return true
		}
		if name, ok := fullName(options); ok {
			all = append(all, metric{Metric: name, Type: kind})
		}
		return true
	})
	return all
}

// fullName joins Namespace, Subsystem and Name of options. ok is false if one of them is not a text.
func fullName(options *ast.CompositeLit) (name string, ok bool) {
	parts := map[string]string{}
	for _, element := range options.Elts {
		pair, isPair := element.(*ast.KeyValueExpr)
		if !isPair {
			return "", false
		}
		key, isName := pair.Key.(*ast.Ident)
		if !isName || !slices.Contains([]string{"Namespace", "Subsystem", "Name"}, key.Name) {
			continue
		}
		lit, isLit := pair.Value.(*ast.BasicLit)
		if !isLit || lit.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return "", false
		}
		parts[key.Name] = text
	}
	if parts["Name"] == "" {
		return "", false
	}
	words := slices.DeleteFunc([]string{parts["Namespace"], parts["Subsystem"], parts["Name"]}, func(s string) bool { return s == "" })
	return strings.Join(words, "_"), true
}
