package fields

import (
	"maps"

	"github.com/operon-dev/operon/internal/edit/yamledit"
)

// AddToSample adds to a sample the required fields and the defaults that its spec lacks.
func (k *Kind) AddToSample(src []byte) ([]byte, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, err
	}
	object, _ := k.Schema().Minimal()
	want := complete(doc.Value, object)
	return yamledit.Reconcile(src, doc.Value, want, nil)
}

// complete returns have with the keys of more that it lacks, also in the objects that both have.
func complete(have, more map[string]any) map[string]any {
	all := maps.Clone(have)
	if all == nil {
		all = map[string]any{}
	}
	for key, value := range more {
		old, exists := all[key]
		inner, isObject := value.(map[string]any)
		before, wasObject := old.(map[string]any)
		switch {
		case isObject && (wasObject || old == nil):
			all[key] = complete(before, inner)
		case !exists:
			all[key] = value
		}
	}
	return all
}
