package depcache

import (
	"fmt"
	"slices"
	"testing"

	"github.com/operon-dev/operon/internal/gen/store"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// identities returns the identities in a map of texts.
func identities(texts map[string]string) func(string) (Identity, bool) {
	return func(path string) (Identity, bool) {
		text, ok := texts[path]
		return store.KeyOf(text), ok
	}
}

// keep stores an entry for packages with their current identities.
func keep(t *testing.T, c *Cache, now map[string]string, e *Entry) {
	t.Helper()
	var ok bool
	if e.Sum, ok = sum(e.Closure, identities(now)); !ok {
		t.Fatal("no identity")
	}
	c.keep(e, identities(now))
}

func TestFind(t *testing.T) {
	t.Parallel()
	c := &Cache{Store: store.Open(t.TempDir()), Environment: []string{"v1"}}
	keep(t, c, map[string]string{"x": "1", "y": "2"}, entry(t, store.Key{}, "x", "y"))
	keep(t, c, map[string]string{"x": "1", "z": "3"}, entry(t, store.Key{}, "x", "z"))
	for name, tt := range map[string]struct {
		cache *Cache
		now   map[string]string
		want  string // the second of the closure
	}{
		"one":             {c, map[string]string{"x": "1", "y": "2"}, "y"},
		"another":         {c, map[string]string{"x": "1", "y": "3", "z": "3"}, "z"},
		"itself changed":  {c, map[string]string{"x": "2", "y": "2"}, ""},
		"another changed": {c, map[string]string{"x": "1", "y": "3"}, ""},
		"another removed": {c, map[string]string{"x": "1"}, ""},
		"itself removed":  {c, map[string]string{"y": "2"}, ""},
		"mixed up":        {c, map[string]string{"x": "2", "y": "1"}, ""},
		"environment":     {&Cache{Store: c.Store, Environment: []string{"v2"}}, map[string]string{"x": "1", "y": "2"}, ""},
		"no store":        {&Cache{Environment: c.Environment}, map[string]string{"x": "1", "y": "2"}, ""},
	} {
		got := ""
		if e := tt.cache.Find("x", identities(tt.now)); e != nil {
			got = e.Closure[1]
		}
		if got != tt.want {
			t.Errorf("%s: found the entry with %q, want %q", name, got, tt.want)
		}
	}
}

func TestKeepMerges(t *testing.T) {
	t.Parallel()
	c := &Cache{Store: store.Open(t.TempDir())}
	now := map[string]string{"x": "1"}
	for _, name := range []string{"A", "B", ""} {
		e := &Entry{Closure: []string{"x"}, Types: []byte("types of " + name)}
		if name != "" {
			e.Group, e.Grouped = "g", true
			if err := e.SetSchemas(map[string]apiextensionsv1.JSONSchemaProps{name: {Type: name}}); err != nil {
				t.Fatal(err)
			}
		}
		keep(t, c, now, e)
	}
	e := c.Find("x", identities(now))
	all, _ := e.Schemas()
	if len(all) != 2 || all["A"].Type != "A" || all["B"].Type != "B" || !e.Grouped || e.Group != "g" {
		t.Errorf("kept %v and group %q", all, e.Group)
	}
	if string(e.Types) != "types of " {
		t.Errorf("kept %q, not the latest types", e.Types)
	}
}

// TestVariants expects that the cache keeps the latest entries of a package whose closure
// changes.
func TestVariants(t *testing.T) {
	t.Parallel()
	c := &Cache{Store: store.Open(t.TempDir())}
	now := func(i int) map[string]string { return map[string]string{"x": "1", "y": fmt.Sprint(i)} }
	for i := range variants + 1 {
		keep(t, c, now(i), entry(t, store.Key{}, "x", "y"))
	}
	var found []bool
	for i := range variants + 1 {
		found = append(found, c.Find("x", identities(now(i))) != nil)
	}
	if want := []bool{false, true, true, true, true}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}
