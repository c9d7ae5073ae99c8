package operator

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// listIndex matches the index of a list item. Dropped fields of all items are reported as one.
var listIndex = lazyregexp.New(`\[\d+\]`)

// reportDroppedFields reports fields of converted objects that their version does not
// define, because the API server drops them. It reports each field once per loaded hook.
func (o *Operator) reportDroppedFields(h *runningHook, crd string, converted []*unstructured) {
	definition, err := o.Cluster.CRD(h.ctx, crd)
	if err != nil {
		o.reportOnce(h, fmt.Errorf("cannot check whether conversions of %s lose fields: %w", crd, err))
		return
	}
	for _, object := range converted {
		version := object.GetAPIVersion()
		schema := crdschema.Of(definition, version[strings.IndexByte(version, '/')+1:])
		if schema == nil {
			continue // the API server rejects the object
		}
		v, err := crdschema.NewValidator(schema)
		if err != nil {
			continue // the API server does not serve such a schema
		}
		dropped, err := v.Prune(object.Object)
		if err != nil {
			continue // the API server rejects the object
		}
		for _, path := range dropped {
			o.reportOnce(h, fmt.Errorf("%s has no field %s, so the API server drops it", version, listIndex().ReplaceAllString(path, "[]")))
		}
	}
}

// reportOnce reports an error of a hook if the same error was not reported before.
func (o *Operator) reportOnce(h *runningHook, err error) {
	if _, reported := h.reported.LoadOrStore(err.Error(), true); !reported && h.ctx.Err() == nil {
		o.Warn(h.Name, err)
	}
}
