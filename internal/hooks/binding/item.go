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

// View converts objects to the items of a binding: it applies jqFilter, and keeps the full
// object unless keepFullObjectsInMemory is false.
type View struct {
	binding config.Kubernetes
	filter  *gojq.Code // nil if the binding has no filter
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

// Item is an object in the events and snapshots of a binding.
type Item struct {
	object     *unstructured.Unstructured
	keepObject bool // the item includes the object
	filtered   bool // the item includes the result of the filter
	result     any
	checksum   [sha256.Size]byte // for Same
}

// MarshalJSON implements json.Marshaler.
func (i Item) MarshalJSON() ([]byte, error) { return json.Marshal(i.fields()) }

func (i Item) fields() map[string]any {
	fields := map[string]any{}
	if i.keepObject {
		fields["object"] = i.object
	}
	if i.filtered {
		fields["filterResult"] = i.result
	}
	return fields
}

// Same reports whether the engine considers two states of an object equal. It compares the
// results of the filter or, without a filter, the full objects.
func (i Item) Same(other Item) bool { return i.checksum == other.checksum }

// Item returns the item for an object. The error is an error of the filter; in that case, the
// engine drops the event.
func (v View) Item(o *unstructured.Unstructured) (Item, error) {
	i := Item{object: o, keepObject: v.binding.KeepsObjects(), filtered: v.filter != nil}
	if v.filter == nil {
		content, err := json.Marshal(o)
		i.checksum = sha256.Sum256(content)
		return i, err
	}
	results, err := v.run(o, filterTimeout)
	if err != nil {
		return i, fmt.Errorf("jqFilter of %s for %s: %w", v.binding.BindingName(), objectName(o), err)
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
	i.checksum = sha256.Sum256(content)
	return i, json.Unmarshal(content, &i.result) // converts numbers to the types of decoded JSON
}

// filterTimeout stops filters that do not end. Other filters are much faster.
const filterTimeout = 5 * time.Second

// run returns all results of the filter for an object. Unlike the engine, it has a timeout.
func (v View) run(o *unstructured.Unstructured, timeout time.Duration) ([]any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var results []any
	for iter := v.filter.RunWithContext(ctx, runtime.DeepCopyJSON(o.Object)); ; {
		result, more := iter.Next()
		if !more {
			return results, nil
		}
		if err, failed := result.(error); failed {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("no result within %s; the engine has no time limit", timeout)
			}
			if halt := (*gojq.HaltError)(nil); errors.As(err, &halt) && halt.Value() == nil {
				return results, nil
			}
			return nil, err
		}
		results = append(results, result)
	}
}

// Sorted sorts items in the order of snapshots, and returns them. The order is by namespace and
// name, or by ID if the items do not include objects.
func Sorted(items []Item) []Item {
	slices.SortStableFunc(items, func(a, b Item) int {
		if !a.keepObject {
			return cmp.Compare(ID(a.object), ID(b.object))
		}
		return cmp.Or(cmp.Compare(a.object.GetNamespace(), b.object.GetNamespace()), cmp.Compare(a.object.GetName(), b.object.GetName()))
	})
	return items
}

// ID identifies an object within a binding, in the form namespace/Kind/name.
func ID(o *unstructured.Unstructured) string {
	return o.GetNamespace() + "/" + o.GetKind() + "/" + o.GetName()
}
