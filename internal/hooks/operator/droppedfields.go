package operator

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
)

// place is that of an item in a list, of which a field is told for all.
var listIndex = regexp.MustCompile(`\[\d+\]`)

// lost tells of fields in converted objects that their version does not have, for the
// API server drops them: of each once, until the hook is replaced.
func (o *Operator) reportDroppedFields(h *runningHook, crd string, converted []*unstructured) {
	definition, err := o.Cluster.CRD(h.life, crd)
	if err != nil {
		o.reportOnce(h, fmt.Errorf("whether conversions of %s lose fields is not known: %w", crd, err))
		return
	}
	for _, object := range converted {
		version := object.GetAPIVersion()
		schema := crdschema.Of(definition, version[strings.IndexByte(version, '/')+1:])
		if schema == nil {
			continue // the API server refuses the object
		}
		v, err := crdschema.NewValidator(schema)
		if err != nil {
			continue // the API server serves no such schema
		}
		dropped, err := v.Prune(object.Object)
		if err != nil {
			continue // the API server refuses the object
		}
		for _, path := range dropped {
			o.reportOnce(h, fmt.Errorf("%s has no field %s, so the API server drops it", version, listIndex.ReplaceAllString(path, "[]")))
		}
	}
}

// once tells of trouble with a hook that was not told of before.
func (o *Operator) reportOnce(h *runningHook, err error) {
	if _, told := h.reported.LoadOrStore(err.Error(), true); !told && h.life.Err() == nil {
		o.Warn(h.Name, err)
	}
}
