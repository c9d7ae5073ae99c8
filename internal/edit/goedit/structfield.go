package goedit

import (
	"go/ast"
	"reflect"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/edit"
	"github.com/operon-dev/operon/internal/fault"
)

// FieldType returns the type of the field of a struct with a name in JSON, as the source writes it. ok
// is false if the file does not declare the struct with that field.
func (f *File) FieldType(structName, jsonName string) (typ string, ok bool) {
	s := f.structType(structName)
	if s == nil {
		return "", false
	}
	for _, field := range s.Fields.List {
		if tagName(field) == jsonName {
			return string(f.src[f.offset(field.Type.Pos()):f.offset(field.Type.End())]), true
		}
	}
	return "", false
}

// AddField adds a field at the end of a struct, after a blank line. code is the field with its comment, each
// line indented by a tab. If the struct has a field with that name in JSON, nothing changes. If the file
// does not declare the struct, the hint of the error contains the code to add by hand.
func (f *File) AddField(structName, jsonName, code string) error {
	if f.err != nil {
		return f.err
	}
	if _, ok := f.FieldType(structName, jsonName); ok {
		return nil
	}
	s := f.structType(structName)
	if s == nil {
		f.err = fault.Failed("add this field by hand:\n"+code, "%s does not declare the struct %s", f.path, structName)
		return f.err
	}
	eol := edit.LineEnd(f.src)
	text := strings.ReplaceAll(code, "\n", eol) + eol
	closing := f.offset(s.Fields.Closing)
	at, blank := closing, ""
	if f.startsLine(closing) {
		at = f.lineStart(closing)
	} else {
		text = eol + text // such as struct{}
	}
	if len(s.Fields.List) > 0 {
		blank = eol
	}
	added := func(g *File) bool { _, ok := g.FieldType(structName, jsonName); return ok }
	if !f.edit(added, []splice{{at, at, blank + text}}) {
		f.err = fault.Failed("add this field by hand:\n"+code, "%s: found no place for a field of the struct %s", f.path, structName)
	}
	return f.err
}

// structType returns the struct that the file declares with a name, or nil.
func (f *File) structType(name string) *ast.StructType {
	for _, d := range f.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			t, ok := spec.(*ast.TypeSpec)
			if !ok || t.Name.Name != name {
				continue
			}
			s, _ := t.Type.(*ast.StructType)
			return s
		}
	}
	return nil
}

// tagName returns the name of a field in JSON, or "" if its tag has none.
func tagName(field *ast.Field) string {
	if field.Tag == nil {
		return ""
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name
}
