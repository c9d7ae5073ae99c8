package project

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzParseEncode checks that a valid file does not change when it is encoded.
func FuzzParseEncode(f *testing.F) {
	for _, src := range inputs(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		c, err := Parse([]byte(src))
		if err != nil {
			return
		}
		out, err := c.Encode([]byte(src))
		if err != nil || string(out) != src {
			t.Errorf("%v\n%q\n%q", err, src, out)
		}
	})
}

// FuzzPut checks that a resource can be read after it was encoded, and that comments stay.
func FuzzPut(f *testing.F) {
	all := inputs(f)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
		// A value with an anchor cannot be edited in place.
		return strings.HasPrefix(name, "anchors") || strings.HasPrefix(name, "merge")
	})
	for i := range names {
		f.Add(uint8(i), "ship", "Frigate", "frigates", "a/b", uint16(0x0123), "crew", "x: y", "- z", "#", uint16(0xffff))
		f.Add(uint8(i), "", "true", "~", "3", uint16(0x0040), "\n", "'", "\"", " é", uint16(0x8000))
	}
	f.Fuzz(func(t *testing.T, pick uint8, g1, k1, p1, x1 string, bits1 uint16, g2, k2, p2, x2 string, bits2 uint16) {
		if text := g1 + k1 + p1 + x1 + g2 + k2 + p2 + x2; k1 == "" || k2 == "" || !utf8.ValidString(text) {
			return // neither JSON nor YAML can contain the values
		}
		src := all[names[int(pick)%len(names)]]
		c, out := parse(t, src), []byte(src)
		for _, r := range []Resource{fuzzed(g1, k1, p1, x1, bits1), fuzzed(g2, k2, p2, x2, bits2), fuzzed(g1, k1, p2, x2, bits2)} {
			c.Put(r)
			before := out
			var err error
			if out, err = c.Encode(out); err != nil {
				t.Fatalf("%v\n%s\n%+v", err, before, r)
			}
			if diff := cmp.Diff(c, parse(t, string(out)), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("(-want +got)\n%s\n%s", diff, out)
			}
		}
		for line := range strings.Lines(src) {
			if _, comment, ok := strings.Cut(line, "#"); ok && !strings.Contains(string(out), strings.TrimSpace(comment)) {
				t.Fatalf("the comment %q is missing\n%s", comment, out)
			}
		}
	})
}

func fuzzed(group, kind, plural, text string, bits uint16) Resource {
	bit := func(n int) bool { return bits>>n&1 == 1 }
	r := Resource{
		Group: group, Version: "v1", Kind: kind, Plural: plural, Path: text,
		Controller: bit(0), External: bit(1), Core: bit(2),
	}
	if bit(3) {
		r.API = &API{CRDVersion: "v1", Namespaced: bit(4)}
	}
	if bit(5) {
		r.Controllers = []Controller{{kind}, {text}}
	}
	if bit(6) {
		r.Webhooks = &Webhooks{Defaulting: bit(7), DefaultingPath: text, Conversion: bit(8)}
	}
	if bit(9) && r.Webhooks != nil {
		r.Webhooks.Spoke = []string{plural, "v2"}
	}
	if bit(10) {
		r.Domain, r.Module = "example.org", text
	}
	return r
}
