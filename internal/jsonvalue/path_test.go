package jsonvalue

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPath expects that missing values and values of other types are zero values.
func TestPath(t *testing.T) {
	t.Parallel()
	doc := map[string]any{
		"name": "fleet",
		"spec": map[string]any{"ports": []any{map[string]any{"port": 80}, "none"}, "size": int64(3), "load": 1.5, "names": []any{"a", 1, "b"}},
	}
	for name, tt := range map[string]struct{ got, want any }{
		"string":         {String(doc, "name"), "fleet"},
		"string of map":  {String(doc, "spec"), ""},
		"below a string": {String(doc, "name", "first"), ""},
		"no document":    {Map(nil, "spec"), map[string]any(nil)},
		"maps":           {Maps(doc, "spec", "ports"), []map[string]any{{"port": 80}}},
		"strings":        {Strings(doc, "spec", "names"), []string{"a", "b"}},
		"no list":        {Strings(doc, "spec", "size"), []string(nil)},
		"int of YAML":    {Int(Maps(doc, "spec", "ports")[0], "port"), int64(80)},
		"int of JSON":    {Int(doc, "spec", "size"), int64(3)},
		"fraction":       {Int(doc, "spec", "load"), int64(1)},
		"no number":      {Int(doc, "name"), int64(0)},
		"list of":        {ListOf([]string{"a"}), []any{"a"}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	EnsureMap(doc, "spec", "template", "spec")["image"] = "fleet:v1"
	if got := String(doc, "spec", "template", "spec", "image"); got != "fleet:v1" || Int(doc, "spec", "size") != 3 {
		t.Errorf("got %q in %v", got, doc)
	}
}
