package gen

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/scaffold"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/rbac"
)

// Rules of the warnings about markers.
const (
	ruleMarkerUnknown = "marker-unknown"     // no generator knows the name
	ruleMarkerIgnored = "marker-ignored"     // known, but has no effect where it stands
	ruleGroupVersion  = "rbac-group-version" // an API group that holds a version matches nothing
)

// marker is a marker comment of a root package.
type marker struct {
	comment *ast.Comment
	text    string // from the plus sign on, trimmed
	name    string // with the plus sign, without arguments
	file    *ast.File
	scopes  int  // bit 1<<target for each target the name is registered for
	used    bool // the collector attached it to a node of such a target
}

// warnMarkers adds a warning for each marker that controller-gen passes over
// in silence, and for RBAC groups that match nothing. It looks at every marker
// whichever generators run, so that one set of sources has one set of
// warnings.
func warnMarkers(set *packageSet, src *sources, p *scaffold.Plan) {
	known := newVocabulary()
	var all []scaffold.Warning
	for _, root := range set.roots {
		found := findMarkers(root, known)
		markUsed(root, found)
		for _, m := range found {
			for _, w := range m.warnings(known) {
				pos := set.fset.Position(m.comment.Pos())
				rel, ok := inProject(src.dir, pos.Filename)
				if !ok {
					continue // a package of another module is not this user's to mend
				}
				w.File, w.Line = rel, pos.Line
				w.Column += pos.Column
				all = append(all, w)
			}
		}
	}
	slices.SortFunc(all, func(a, b scaffold.Warning) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for _, w := range slices.Compact(all) {
		p.Warn(w)
	}
}

// findMarkers lists the markers in line comments, which are the only ones that
// controller-gen reads.
func findMarkers(root *loader.Package, known *vocabulary) []*marker {
	root.NeedSyntax()
	var found []*marker
	for _, file := range root.Syntax {
		for _, group := range file.Comments {
			for _, c := range group.List {
				text, ok := strings.CutPrefix(c.Text, "//")
				if text = strings.TrimSpace(text); !ok || !strings.HasPrefix(text, "+") {
					continue
				}
				scopes, name := known.lookup(text)
				found = append(found, &marker{comment: c, text: text, name: name, file: file, scopes: scopes})
			}
		}
	}
	return found
}

// markUsed finds out which markers have an effect, by asking the collector
// itself: for a moment each marker is replaced by a numbered one that is
// registered for the same targets, and the numbers that come back are those of
// the markers that count.
func markUsed(root *loader.Package, found []*marker) {
	targets := []markers.TargetType{markers.DescribesPackage, markers.DescribesType, markers.DescribesField}
	reg := &markers.Registry{}
	for scopes := 1; scopes < 1<<len(targets); scopes++ {
		for _, t := range targets {
			if scopes&(1<<t) != 0 {
				// An int is a valid argument and the target exists, so this cannot fail.
				_ = reg.Define(probe(scopes), t, 0)
			}
		}
	}
	for i, m := range found {
		if m.scopes == 0 {
			continue
		}
		original := m.comment.Text
		defer func() { m.comment.Text = original }()
		m.comment.Text = "//+" + probe(m.scopes) + "=" + strconv.Itoa(i)
	}
	col := &markers.Collector{Registry: reg}
	nodes, err := col.MarkersInPackage(&loader.Package{Package: &packages.Package{Syntax: root.Syntax}})
	if err != nil {
		return // not reached: every probe parses
	}
	for _, values := range nodes {
		for _, list := range values {
			for _, i := range list {
				found[i.(int)].used = true
			}
		}
	}
}

func probe(scopes int) string { return "operon:probe" + strconv.Itoa(scopes) }

// warnings returns what is to say about the marker. Column is an offset from
// the start of the comment.
func (m *marker) warnings(known *vocabulary) []scaffold.Warning {
	start := strings.Index(m.comment.Text, "+")
	if isExample(m.comment.Text[:start]) {
		return nil
	}
	switch {
	case m.scopes == 0:
		near, suspect := known.suspect(m.name)
		if !suspect {
			return nil
		}
		msg := m.name + " is not a marker of controller-gen, which ignores it"
		if near != "" {
			msg += "; did you mean +" + near + "?"
		}
		return []scaffold.Warning{{Column: start, Rule: ruleMarkerUnknown, Message: msg}}
	case !m.used:
		if !ours(m.name) {
			return nil
		}
		return []scaffold.Warning{{Column: start, Rule: ruleMarkerIgnored,
			Message: fmt.Sprintf("%s has no effect here: it describes %s, but %s", m.name, describes(m.scopes), m.place())}}
	case m.name == "+"+rbac.RuleDefinition.Name:
		return m.groupVersions()
	}
	return nil
}

// isExample reports whether the text before a marker's plus sign makes the
// line a code block of a doc comment, which shows a marker and means none.
func isExample(before string) bool {
	indent := strings.TrimPrefix(before, "//")
	return strings.Contains(indent, "\t") || len(indent) >= 3
}

// ours keeps quiet about markers that other tools read as well (+optional,
// +listType, +k8s:...), which may well stand where controller-gen ignores them.
func ours(name string) bool {
	return strings.HasPrefix(name, "+kubebuilder:") || name == "+groupName" || name == "+versionName"
}

func describes(scopes int) string {
	var parts []string
	for t, word := range map[markers.TargetType]string{
		markers.DescribesPackage: "a package", markers.DescribesType: "a type", markers.DescribesField: "a field",
	} {
		if scopes&(1<<t) != 0 {
			parts = append(parts, word)
		}
	}
	slices.SortFunc(parts, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return strings.Join(parts, " or ")
}

var versionLike = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// groupVersions finds groups such as apps/v1 or v1. An API group holds no
// version, so a rule with one matches no request.
func (m *marker) groupVersions() []scaffold.Warning {
	value, err := rbac.RuleDefinition.Parse(m.text)
	if err != nil {
		return nil // reported as an error by the generator
	}
	var all []scaffold.Warning
	for _, g := range value.(rbac.Rule).Groups {
		group, version, slash := strings.Cut(g, "/")
		if !slash {
			group, version = "", g
		}
		if !versionLike.MatchString(version) {
			continue
		}
		right := strconv.Quote(group)
		if group != "" {
			right = group
		}
		all = append(all, scaffold.Warning{
			Column: m.offset(g), Rule: ruleGroupVersion,
			Message: fmt.Sprintf("the API group %q holds a version and matches nothing; write groups=%s", g, right),
		})
	}
	return all
}

// offset is where the value of groups= stands in the comment.
func (m *marker) offset(group string) int {
	if i := strings.Index(m.comment.Text, "groups="); i >= 0 {
		if j := strings.Index(m.comment.Text[i:], group); j >= 0 {
			return i + j
		}
	}
	return strings.Index(m.comment.Text, "+")
}

// place says where a marker without effect stands, and what would help.
func (m *marker) place() string {
	doc, inside := "", ""
	at := m.comment.Pos()
	ast.Inspect(m.file, func(n ast.Node) bool {
		if n == nil || at < begin(n) || at >= n.End() {
			return false
		}
		group, what := documented(n)
		if group != nil && group.Pos() <= at && at < group.End() {
			doc = what
		} else if what != "" {
			inside = what
		}
		return true
	})
	pkgLevel := m.scopes&(1<<markers.DescribesPackage) != 0
	switch {
	case doc != "" && pkgLevel:
		return "this is the doc comment of " + doc + "; leave an empty line below it"
	case doc != "":
		return "this is the doc comment of " + doc
	case inside != "":
		return "this is inside " + inside
	}
	return "none follows"
}

// begin is the start of a node with its doc comment.
func begin(n ast.Node) token.Pos {
	if group, _ := documented(n); group != nil && group.Pos() < n.Pos() {
		return group.Pos()
	}
	return n.Pos()
}

// documented returns the doc comment of a declaration, and words for it.
func documented(n ast.Node) (doc *ast.CommentGroup, what string) {
	switch d := n.(type) {
	case *ast.File:
		return d.Doc, ""
	case *ast.FuncDecl:
		return d.Doc, "func " + d.Name.Name
	case *ast.GenDecl:
		if len(d.Specs) == 1 {
			if t, ok := d.Specs[0].(*ast.TypeSpec); ok {
				return d.Doc, "type " + t.Name.Name
			}
		}
		return d.Doc, "a " + d.Tok.String() + " declaration"
	case *ast.TypeSpec:
		return d.Doc, "type " + d.Name.Name
	case *ast.ValueSpec:
		return d.Doc, d.Names[0].Name
	case *ast.Field:
		if len(d.Names) > 0 {
			return d.Doc, "field " + d.Names[0].Name
		}
		return d.Doc, "an embedded field"
	}
	return nil, ""
}
