package descriptors

import (
	"cmp"
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// described is the descriptor of a field with its place in the list.
type described struct {
	order int
	entry map[string]any
}

// walk is a search for marked fields of spec or status.
type walk struct {
	r     *reader
	kind  *loader.Package // of the kind
	part  string
	found []described
	stack []*markers.TypeInfo // to stop at types that contain themselves
}

// fields returns the descriptors for fields below a field of a kind: those with an order
// first, then by path.
func (r *reader) fields(p *loader.Package, in *markers.TypeInfo, field markers.FieldInfo, part string) ([]any, error) {
	w := &walk{r: r, kind: p, part: part}
	if err := w.expression(p, in.RawFile, field.RawField.Type, ""); err != nil {
		return nil, err
	}
	slices.SortStableFunc(w.found, func(a, b described) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.entry["path"].(string), b.entry["path"].(string)))
	})
	var list []any
	for _, d := range w.found {
		list = append(list, d.entry)
	}
	return list, nil
}

// expression follows the types in an expression in a file. path is the path of the field, with
// [0] for a list.
func (w *walk) expression(p *loader.Package, file *ast.File, e ast.Expr, path string) error {
	switch e := e.(type) {
	case *ast.StarExpr:
		return w.expression(p, file, e.X, path)
	case *ast.ParenExpr:
		return w.expression(p, file, e.X, path)
	case *ast.ArrayType:
		return w.expression(p, file, e.Elt, path)
	case *ast.MapType:
		return w.expression(p, file, e.Value, path)
	case *ast.Ident:
		return w.named(p, e.Name, path)
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		if !ok {
			return nil
		}
		if from := imported(p, file, x.Name); from != nil {
			return w.named(from, e.Sel.Name, path)
		}
	}
	return nil
}

// imported returns the package that a file knows under that name, or nil.
func imported(p *loader.Package, file *ast.File, name string) *loader.Package {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		from := p.Imports()[path]
		if from != nil && (spec.Name != nil && spec.Name.Name == name || spec.Name == nil && from.Name == name) {
			return from
		}
	}
	return nil
}

// named follows a type.
func (w *walk) named(p *loader.Package, name, path string) error {
	if !hasMarkers(p, w.kind) {
		return nil
	}
	types, err := w.r.of(p)
	if err != nil {
		return err
	}
	info := types[name]
	if info == nil || slices.Contains(w.stack, info) {
		return nil
	}
	w.stack = append(w.stack, info)
	defer func() { w.stack = w.stack[:len(w.stack)-1] }()
	if _, isStruct := info.RawSpec.Type.(*ast.StructType); !isStruct {
		return w.expression(p, info.RawFile, info.RawSpec.Type, path)
	}
	for _, field := range info.Fields {
		if err := w.field(p, info.RawFile, field, path); err != nil {
			return err
		}
	}
	return nil
}

// field describes a field if it has the marker, and follows its type.
func (w *walk) field(p *loader.Package, file *ast.File, field markers.FieldInfo, path string) error {
	name, inline := jsonName(field)
	if name == "" && !inline {
		return nil
	}
	if inline {
		return w.expression(p, file, field.RawField.Type, path)
	}
	at := strings.TrimPrefix(path+"."+name, ".")
	w.describe(field, at)
	if _, isList := field.RawField.Type.(*ast.ArrayType); isList {
		at += "[0]"
	}
	return w.expression(p, file, field.RawField.Type, at)
}

// describe adds the descriptor of a field. Several markers on a field are one.
func (w *walk) describe(field markers.FieldInfo, path string) {
	d := described{order: Unordered, entry: map[string]any{"path": path}}
	var elements []any
	name, marked := "", false
	for _, value := range field.Markers[Marker] {
		m, ok := value.(fieldMarker)
		if !ok || m.Type != w.part {
			continue
		}
		marked = true
		if m.Order != nil {
			d.order = *m.Order
		}
		name = cmp.Or(name, m.DisplayName)
		for _, list := range m.XDescriptors {
			for element := range strings.SplitSeq(list, ",") { // as in "urn:a,urn:b"
				elements = append(elements, strings.TrimSpace(element))
			}
		}
	}
	if !marked {
		return
	}
	d.entry["displayName"] = cmp.Or(name, Words(field.Name))
	if field.Doc != "" {
		d.entry["description"] = field.Doc
	}
	if len(elements) > 0 {
		d.entry["x-descriptors"] = elements
	}
	w.found = append(w.found, d)
}

// jsonName returns the name of a field in JSON. It is empty for a field that is not there,
// and for one that has the fields of its parent.
func jsonName(field markers.FieldInfo) (name string, inline bool) {
	tag, tagged := field.Tag.Lookup("json")
	name, options, _ := strings.Cut(tag, ",")
	embedded := len(field.RawField.Names) == 0
	switch {
	case tag == "-", !embedded && !ast.IsExported(field.Name):
		return "", false
	case slices.Contains(strings.Split(options, ","), "inline"), embedded && name == "":
		return "", true
	case !tagged || name == "":
		return field.Name, false
	}
	return name, false
}
