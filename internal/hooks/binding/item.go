package binding

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/itchyny/gojq"
	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// View is how a binding sees objects: through its jqFilter, and whole unless
// keepFullObjectsInMemory is false.
type View struct {
	binding config.Kubernetes
	filter  *gojq.Code // nil: none
}

// NewView compiles the filter of a binding.
func NewView(k config.Kubernetes) (View, error) {
	v := View{binding: k}
	if k.JQFilter == "" {
		return v, nil
	}
	query, err := gojq.Parse(k.JQFilter)
	if err == nil {
		v.filter, err = gojq.Compile(query)
	}
	return v, err
}

// Item is an object as a binding shows it in events and snapshots.
type Item struct {
	object   *unstructured.Unstructured
	whole    bool // objects are kept
	filtered bool
	result   any // of the filter
	sum      [sha256.Size]byte
}

// MarshalJSON implements json.Marshaler.
func (i Item) MarshalJSON() ([]byte, error) { return json.Marshal(i.fields()) }

func (i Item) fields() map[string]any {
	fields := map[string]any{}
	if i.whole {
		fields["object"] = i.object
	}
	if i.filtered {
		fields["filterResult"] = i.result
	}
	return fields
}

// Same reports whether the engine sees no difference between two states of an
// object: in the results of the filter, or without one in the whole objects.
func (i Item) Same(other Item) bool { return i.sum == other.sum }

// Show runs the filter over an object. An error of the filter is one for which
// the engine drops the event.
func (v View) Show(o *unstructured.Unstructured) (Item, error) {
	i := Item{object: o, whole: v.binding.KeepsObjects(), filtered: v.filter != nil}
	if v.filter == nil {
		content, err := json.Marshal(o)
		i.sum = sha256.Sum256(content)
		return i, err
	}
	results, err := v.run(o, enough)
	if err != nil {
		return i, fmt.Errorf("jqFilter of %s, over %s: %w", v.binding.BindingName(), name(o), err)
	}
	var result any
	switch len(results) {
	case 0:
	case 1:
		result = results[0]
	default:
		result = results
	}
	content, err := json.Marshal(result)
	if err != nil {
		return i, err
	}
	i.sum = sha256.Sum256(content)
	return i, json.Unmarshal(content, &i.result) // numbers become what they are in a context
}

// enough is more than a filter takes for an object, unless it does not end.
const enough = 5 * time.Second

// run is all that the filter gives for an object. The engine would wait for a filter
// without an end; nobody could end what waits here.
func (v View) run(o *unstructured.Unstructured, within time.Duration) ([]any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var results []any
	for iter := v.filter.RunWithContext(ctx, runtime.DeepCopyJSON(o.Object)); ; {
		result, more := iter.Next()
		if !more {
			return results, nil
		}
		if err, failed := result.(error); failed {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("it does not end within %s, and the engine waits for that", within)
			}
			if halt := (*gojq.HaltError)(nil); errors.As(err, &halt) && halt.Value() == nil {
				return results, nil
			}
			return nil, err
		}
		results = append(results, result)
	}
}

// Sorted puts items in the order of snapshots: by namespace and name, or by ID
// where objects are not kept.
func Sorted(items []Item) []Item {
	slices.SortStableFunc(items, func(a, b Item) int {
		if !a.whole {
			return cmp.Compare(ID(a.object), ID(b.object))
		}
		return cmp.Or(cmp.Compare(a.object.GetNamespace(), b.object.GetNamespace()), cmp.Compare(a.object.GetName(), b.object.GetName()))
	})
	return items
}

// ID tells an object of a binding from its others: namespace/Kind/name.
func ID(o *unstructured.Unstructured) string {
	return o.GetNamespace() + "/" + o.GetKind() + "/" + o.GetName()
}
