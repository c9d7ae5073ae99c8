package marker

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/scaffold"
)

const ruleHidden = "default-hides-zero" // Go clients cannot store the zero value

// integers are the types of numbers that a CRD has without further options.
var integers = []string{"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64"}

// hiddenZero returns a warning about the default of a field whose zero value Go clients leave out, so that API servers
// replace it with the default. Texts are left out: an empty one rarely has a meaning of its own.
func (m *marker) hiddenZero() []scaffold.Warning {
	_, value, _ := strings.Cut(m.text, "=")
	f, from := m.field()
	if f == nil || len(f.Names) != 1 || f.Tag == nil {
		return nil
	}
	basic, isName := f.Type.(*ast.Ident)
	tag, _ := strconv.Unquote(f.Tag.Value) // the parser checked it
	_, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if !isName || !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
		return nil
	}
	zero := "0"
	switch n, err := strconv.ParseInt(value, 10, 64); {
	case basic.Name == "bool" && value == "true":
		zero = "false"
	case err != nil || n == 0 || !slices.Contains(integers, basic.Name) || m.excludesZero(from, f.Pos()):
		return nil
	}
	return []scaffold.Warning{{Column: strings.Index(m.comment.Text, "+"), Rule: ruleHidden,
		Message: fmt.Sprintf("Go clients cannot store %s in %s: they omit it, and API servers add the default %s; use *%s", zero, f.Names[0].Name, value, basic.Name)}}
}

// field returns the field of a struct that the marker describes, or nil. Its comments start at from.
func (m *marker) field() (found *ast.Field, from token.Pos) {
	ast.Inspect(m.file, func(n ast.Node) bool {
		s, isStruct := n.(*ast.StructType)
		if !isStruct || m.comment.Pos() < s.Pos() || s.End() < m.comment.Pos() {
			return true
		}
		found, from = nil, s.Pos() // the innermost struct counts
		for _, f := range s.Fields.List {
			if f.Pos() > m.comment.Pos() {
				found = f
				break
			}
			from = f.End()
		}
		return true
	})
	return found, from
}

// excludesZero reports whether other markers of a field make 0 invalid.
func (m *marker) excludesZero(from, to token.Pos) bool {
	for _, group := range m.file.Comments {
		if group.Pos() < from || group.Pos() > to {
			continue
		}
		for _, c := range group.List {
			name, value, _ := strings.Cut(c.Text, "=")
			name = strings.TrimSuffix(name, ":")
			n, err := strconv.ParseFloat(value, 64)
			switch {
			case strings.HasSuffix(name, ":ExclusiveMinimum"),
				strings.HasSuffix(name, ":Minimum") && err == nil && n > 0,
				strings.HasSuffix(name, ":Enum") && !slices.Contains(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("{},;", r) }), "0"):
				return true
			}
		}
	}
	return false
}
