package deps

import (
	"fmt"
	"slices"
	"testing"

	"github.com/operon-dev/operon/internal/gen/store"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// identities tells identities from a map of texts.
func identities(texts map[string]string) func(string) (Identity, bool) {
	return func(path string) (Identity, bool) {
		text, ok := texts[path]
		return store.KeyOf(text), ok
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	c := &Cache{Store: store.Open(t.TempDir()), Environment: []string{"v1"}}
	c.Keep(entry(t, Member{"x", store.KeyOf("1")}, Member{"y", store.KeyOf("2")}))
	c.Keep(entry(t, Member{"x", store.KeyOf("1")}, Member{"z", store.KeyOf("3")}))
	for name, tt := range map[string]struct {
		cache *Cache
		now   map[string]string
		want  string // the second of the closure
	}{
		"one":             {c, map[string]string{"x": "1", "y": "2"}, "y"},
		"another":         {c, map[string]string{"x": "1", "y": "3", "z": "3"}, "z"},
		"itself changed":  {c, map[string]string{"x": "2", "y": "2"}, ""},
		"another changed": {c, map[string]string{"x": "1", "y": "3"}, ""},
		"another is gone": {c, map[string]string{"x": "1"}, ""},
		"itself is gone":  {c, map[string]string{"y": "2"}, ""},
		"environment":     {&Cache{Store: c.Store, Environment: []string{"v2"}}, map[string]string{"x": "1", "y": "2"}, ""},
		"no store":        {&Cache{Environment: c.Environment}, map[string]string{"x": "1", "y": "2"}, ""},
	} {
		got := ""
		if e := tt.cache.Find("x", identities(tt.now)); e != nil {
			got = e.Closure[1].Path
		}
		if got != tt.want {
			t.Errorf("%s: found the entry with %q, want %q", name, got, tt.want)
		}
	}
}

func TestKeepUnites(t *testing.T) {
	t.Parallel()
	c := &Cache{Store: store.Open(t.TempDir())}
	now := identities(map[string]string{"x": "1"})
	for _, name := range []string{"A", "B", ""} {
		e := &Entry{Closure: []Member{{"x", store.KeyOf("1")}}, Types: []byte("types of " + name)}
		if name != "" {
			e.Group, e.Grouped = "g", true
			if err := e.SetSchemas(map[string]apiextensionsv1.JSONSchemaProps{name: {Type: name}}); err != nil {
				t.Fatal(err)
			}
		}
		c.Keep(e)
	}
	e := c.Find("x", now)
	all, _ := e.Schemas()
	if len(all) != 2 || all["A"].Type != "A" || all["B"].Type != "B" || !e.Grouped || e.Group != "g" {
		t.Errorf("kept %v and group %q", all, e.Group)
	}
	if string(e.Types) != "types of " {
		t.Errorf("kept %q, not the last", e.Types)
	}
}

// TestVariants keeps the last few of a package that leads to ever others.
func TestVariants(t *testing.T) {
	t.Parallel()
	c := &Cache{Store: store.Open(t.TempDir())}
	find := func(i int) bool {
		return c.Find("x", identities(map[string]string{"x": "1", "y": fmt.Sprint(i)})) != nil
	}
	var found []bool
	for i := range variants + 1 {
		c.Keep(entry(t, Member{"x", store.KeyOf("1")}, Member{"y", store.KeyOf(fmt.Sprint(i))}))
	}
	for i := range variants + 1 {
		found = append(found, find(i))
	}
	if want := []bool{false, true, true, true, true}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}
