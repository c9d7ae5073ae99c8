package chart

import (
	"fmt"
	"strings"
	"sync"
	"text/template"
	syntax "text/template/parse"

	"github.com/operon-dev/operon/internal/watchdog"
)

// program is the parsed templates of a chart with their functions.
type program struct {
	templates *template.Template
	available template.FuncMap
	depth     map[string]int // of the recursion of include, by template
	lenient   bool           // see Renderer
}

// compile parses the templates of a selection.
func (re *Renderer) compile(s *selection) (*program, error) {
	p := &program{templates: template.New("chart").Option("missingkey=zero"), depth: map[string]int{}, lenient: re.Lenient}
	p.available = p.functions(re.Lookup)
	if re.Now != nil {
		p.available["now"] = re.Now
	}
	if re.ReuseKeys {
		re.reuseKeys(p.available)
	}
	p.templates.Funcs(p.available)
	if re.parsed == nil {
		re.parsed = map[templateFile]map[string]*syntax.Tree{}
	}
	for _, f := range s.templates {
		trees := re.parsed[f]
		if trees == nil {
			var err error
			if trees, err = p.parse(f.name, f.text); err != nil {
				return nil, templateError(s.chart, err)
			}
			re.parsed[f] = trees
		}
		if err := define(p.templates.New(f.name), trees); err != nil {
			return nil, templateError(s.chart, err)
		}
	}
	return p, nil
}

// parse parses a text with definitions of templates.
func (p *program) parse(name, text string) (map[string]*syntax.Tree, error) {
	return syntax.Parse(name, text, "", "", p.available, predefined())
}

// define adds parsed templates to t.
func define(t *template.Template, trees map[string]*syntax.Tree) error {
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
func (p *program) execute(name string, data any) (text string, err error) {
	defer func() {
		if r := recover(); r != nil { // sprig functions can panic
			err = fmt.Errorf("template: %s: %v", name, r)
		}
	}()
	defer watchdog.Enter("the template " + name)()
	var b strings.Builder
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", err
	}
	return strings.ReplaceAll(b.String(), "<no value>", ""), nil
}

// maxDepth limits the recursion of include.
const maxDepth = 1000

// include is the function that executes a template and returns its output.
func (p *program) include(name string, data any) (string, error) {
	if p.depth[name] > maxDepth {
		return "", fmt.Errorf("%s includes itself more than %d times", name, maxDepth)
	}
	p.depth[name]++
	defer func() { p.depth[name]-- }()
	var b strings.Builder
	err := p.templates.ExecuteTemplate(&b, name, data)
	return b.String(), err
}

// tpl is the function that renders a text, which the values contain.
func (p *program) tpl(text string, data any) (string, error) {
	rendered := text
	if strings.Contains(text, "{{") {
		t, err := p.textTemplate(text)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		if err := t.Execute(&b, data); err != nil {
			return "", fmt.Errorf("tpl of %q: %w", text, err)
		}
		rendered = b.String()
	}
	return strings.ReplaceAll(rendered, "<no value>", ""), nil
}

// textTemplate returns the template for a text. What it defines is defined only there.
func (p *program) textTemplate(text string) (*template.Template, error) {
	name := p.templates.Name()
	trees, err := p.parse(name, text)
	if err != nil {
		return nil, fmt.Errorf("tpl of %q: %w", text, err)
	}
	if len(trees) == 1 {
		t := p.templates.New(name)
		t.Tree = trees[name]
		return t, nil
	}
	clone, err := p.templates.Clone()
	if err != nil {
		return nil, err
	}
	own := *p
	own.templates = clone.Option("missingkey=zero") // Clone does not copy the option
	clone.Funcs(template.FuncMap{"include": own.include, "tpl": own.tpl})
	t := clone.New(name)
	return t, define(t, trees)
}
