package marker

import (
	"fmt"
	"go/ast"
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
func (m *marker) hiddenZero(all []*marker) []scaffold.Warning {
	_, value, _ := strings.Cut(m.text, "=")
	f, isField := m.node.(*ast.Field)
	if !isField || len(f.Names) != 1 || f.Tag == nil {
		return nil
	}
	basic, isName := f.Type.(*ast.Ident)
	tag, _ := strconv.Unquote(f.Tag.Value) // the parser checked it
	_, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if !isName || !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
		return nil
	}
	zero := "0"
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case basic.Name == "bool" && value == "true":
		zero = "false"
	case err != nil || n == 0 || !slices.Contains(integers, basic.Name) || m.excludesZero(all):
		return nil
	}
	return []scaffold.Warning{{Column: strings.Index(m.comment.Text, "+"), Rule: ruleHidden,
		Message: fmt.Sprintf("Go clients cannot store %s in %s: they omit it, and API servers add the default %s; use *%s", zero, f.Names[0].Name, value, basic.Name)}}
}

// excludesZero reports whether another marker of the field makes 0 invalid. all are the markers of the package.
func (m *marker) excludesZero(all []*marker) bool {
	return slices.ContainsFunc(all, func(other *marker) bool {
		if other.node != m.node {
			return false
		}
		name, value, _ := strings.Cut(other.text, "=")
		name = strings.TrimSuffix(name, ":")
		n, err := strconv.ParseFloat(value, 64)
		values := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("{},;", r) })
		return strings.HasSuffix(name, ":ExclusiveMinimum") || strings.Contains(name, ":XValidation") ||
			strings.HasSuffix(name, ":Minimum") && err == nil && n > 0 ||
			strings.HasSuffix(name, ":Enum") && !slices.Contains(values, "0")
	})
}
