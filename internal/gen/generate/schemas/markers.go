package schemas

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"

	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// schemaMarker is a marker that changes a schema.
type schemaMarker interface {
	ApplyToSchema(*crdmarkers.SchemaContext, *Props) error
}

// found is a marker on a type or a field.
type found struct {
	schemaMarker
	name  string
	items bool // it changes the items of an array, after all other markers
	order crdmarkers.ApplyPriority
}

// last exceeds the priorities of all markers.
const last crdmarkers.ApplyPriority = 1 << 32

// apply applies markers to a schema, by their priority and then by their name.
func (c converter) apply(values markers.MarkerValues, s *Props, node ast.Node) {
	if len(values) == 0 {
		return
	}
	var all []found
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, v := range values[name] {
			if m, ok := v.(schemaMarker); ok {
				f := found{m, name, strings.HasPrefix(name, crdmarkers.ValidationItemsPrefix), priority(m)}
				if f.items {
					f.order += last
				}
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.order, b.order) })
	context := &crdmarkers.SchemaContext{Package: c.pkg, TypeInfo: c.info}
	for _, m := range all {
		to := s
		if m.items {
			if s.Type != "array" || s.Items == nil || s.Items.Schema == nil {
				c.fail(node, fmt.Errorf("must apply %s to an array value, found %s", m.name, s.Type))
				continue
			}
			to = s.Items.Schema
		}
		if err := m.ApplyToSchema(context, to); err != nil {
			c.fail(node, err)
		}
	}
}

func priority(m schemaMarker) crdmarkers.ApplyPriority {
	switch m := m.(type) {
	case crdmarkers.ApplyPriorityMarker:
		return m.ApplyPriority()
	case interface{ ApplyFirst() }:
		return crdmarkers.ApplyPriorityFirst
	}
	return crdmarkers.ApplyPriorityDefault
}
