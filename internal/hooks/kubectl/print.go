package kubectl

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"text/template"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/jsonpath"
	kyaml "sigs.k8s.io/yaml"
)

func isNamespaced(k kinds.Kind) bool { return k.Namespaced }

// printObject prints an object as JSON, as YAML, or with a template.
func (r *runner) printObject(o *unstructured.Unstructured) error {
	form, argument, _ := strings.Cut(r.output, "=")
	switch form {
	case "json":
		text, err := json.MarshalIndent(o.Object, "", "    ")
		r.printf("%s\n", text)
		return err
	case "yaml":
		text, err := kyaml.Marshal(o.Object)
		r.printf("%s", text)
		return err
	case "jsonpath", "jsonpath-as-json":
		return r.printJSONPath(argument, o, form == "jsonpath-as-json")
	case "go-template", "template":
		t, err := template.New("output").Funcs(template.FuncMap{"base64decode": decode64}).Parse(argument)
		if err != nil {
			return fmt.Errorf("error parsing template %s, %w", argument, err)
		}
		if err := t.Execute(r.Stdout, o.Object); err != nil {
			return fmt.Errorf("error executing template %q: %w", argument, err)
		}
		return nil
	}
	return fmt.Errorf("-o %s of kubectl %s is not available in hook tests", form, r.command)
}

func decode64(text string) (string, error) {
	content, err := base64.StdEncoding.DecodeString(text)
	return string(content), err
}

func (r *runner) printJSONPath(text string, o *unstructured.Unstructured, asJSON bool) error {
	if text == "" {
		return fmt.Errorf("template format specified but no template given")
	}
	p := jsonpath.New("out").AllowMissingKeys(true)
	p.EnableJSONOutput(asJSON)
	if err := p.Parse(text); err != nil {
		return fmt.Errorf("error parsing jsonpath %s, %w", text, err)
	}
	if err := p.Execute(r.Stdout, o.Object); err != nil {
		return fmt.Errorf("error executing jsonpath %q: Error executing template: %w", text, err)
	}
	return nil
}

// braces matches a path with or without braces and a leading dot.
var braces = lazyregexp.New(`^\{\.?([^{}]+)\}$|^\.?([^{}]+)$`)

// parsePath parses a path that may lack the braces and the leading dot.
func parsePath(path string) (*jsonpath.JSONPath, error) {
	m := braces().FindStringSubmatch(path)
	if m == nil {
		return nil, fmt.Errorf("unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'")
	}
	p := jsonpath.New("column").AllowMissingKeys(true)
	return p, p.Parse("{." + cmp.Or(m[1], m[2]) + "}")
}

// evaluate returns the values at a path, separated by commas.
func evaluate(p *jsonpath.JSONPath, o map[string]any) (string, error) {
	results, err := p.FindResults(o)
	if err != nil {
		return "", err
	}
	var values []string
	for _, set := range results {
		for _, v := range set {
			values = append(values, fmt.Sprint(v.Interface()))
		}
	}
	return strings.Join(values, ","), nil
}

// compareValues compares two numbers by value, and anything else as text.
func compareValues(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

// printCustomColumns prints the columns of a specification such as NAME:.metadata.name.
func (r *runner) printCustomColumns(spec string, found []target) error {
	if spec == "" {
		return fmt.Errorf("custom-columns format specified but no custom columns given")
	}
	var heads []string
	var paths []*jsonpath.JSONPath
	for column := range strings.SplitSeq(spec, ",") {
		head, path, ok := strings.Cut(column, ":")
		if !ok || path == "" {
			return fmt.Errorf("unexpected custom-columns spec: %s, expected <header>:<json-path-expr>", column)
		}
		p, err := parsePath(path)
		if err != nil {
			return err
		}
		heads, paths = append(heads, head), append(paths, p)
	}
	rows := [][]string{heads}
	for _, t := range found {
		var row []string
		for _, p := range paths {
			value, err := evaluate(p, t.object.Object)
			if err != nil {
				return err
			}
			row = append(row, cmp.Or(value, "<none>"))
		}
		rows = append(rows, row)
	}
	return r.printRows(rows)
}

// printRows prints a table. The first row holds the headers.
func (r *runner) printRows(rows [][]string) error {
	if r.noHeaders {
		rows = rows[1:]
	}
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 6, 4, 3, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(out.String()) {
		r.printf("%s\n", strings.TrimRight(line, " \n"))
	}
	return nil
}

// cells are the columns between NAME and AGE, by kind.
var cells = map[string][]struct {
	head  string
	value func(o map[string]any) string
}{
	"configmaps":       {{"DATA", count("data")}},
	"deployments.apps": {{"READY", ready}, {"UP-TO-DATE", number("status.updatedReplicas")}, {"AVAILABLE", number("status.availableReplicas")}},
	"namespaces":       {{"STATUS", text("status.phase")}},
	"nodes":            {{"STATUS", nodeStatus}, {"ROLES", text("")}, {"VERSION", text("status.nodeInfo.kubeletVersion")}},
	"secrets":          {{"TYPE", text("type")}, {"DATA", count("data")}},
}

// wider are the kinds that have more columns with -o wide.
var wider = map[string]bool{"deployments.apps": true, "nodes": true}

// withoutCells are kinds whose tables have only the columns NAME and AGE.
var withoutCells = []string{"serviceaccounts", "roles", "clusterroles", "customresourcedefinitions"}

// age is the age of all objects, because the clock does not advance.
const age = "0s"

// printTables prints a table for each kind.
func (r *runner) printTables(found []target) error {
	for start := 0; start < len(found); {
		end := start + 1
		for end < len(found) && found[end].kind.String() == found[start].kind.String() {
			end++
		}
		if start > 0 {
			r.printf("\n")
		}
		if err := r.printTable(found[start:end], end-start < len(found)); err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (r *runner) printTable(found []target, several bool) error {
	k := found[0].kind
	special, known := cells[k.String()]
	if columns := r.printerColumns(k); columns != "" {
		return r.printCustomColumns(columns, found)
	}
	if !known && !hasPlainTable(k) || r.output == "wide" && wider[k.String()] {
		return fmt.Errorf("kubectl cannot print a table of %s in hook tests: use -o json, yaml, name, jsonpath or custom-columns", k)
	}
	var head []string
	if r.allNamespaces && k.Namespaced {
		head = append(head, "NAMESPACE")
	}
	head = append(head, "NAME")
	for _, c := range special {
		head = append(head, c.head)
	}
	head = append(head, "AGE")
	for _, l := range r.labelColumns {
		head = append(head, strings.ToUpper(l[strings.LastIndex(l, "/")+1:]))
	}
	if r.showLabels {
		head = append(head, "LABELS")
	}
	rows := [][]string{head}
	for _, t := range found {
		var row []string
		if r.allNamespaces && k.Namespaced {
			row = append(row, t.namespace)
		}
		name := t.name
		if several || r.showKind {
			name = t.title()
		}
		row = append(row, name)
		for _, c := range special {
			row = append(row, c.value(t.object.Object))
		}
		row = append(row, age)
		for _, l := range r.labelColumns {
			row = append(row, t.object.GetLabels()[l])
		}
		if r.showLabels {
			row = append(row, cmp.Or(labels.FormatLabels(t.object.GetLabels()), "<none>"))
		}
		rows = append(rows, row)
	}
	return r.printRows(rows)
}
