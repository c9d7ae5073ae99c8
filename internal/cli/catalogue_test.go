package cli

import (
	"slices"
	"testing"

	"github.com/operon-dev/operon/templates"
)

// TestTemplatesOfPlugins checks that the entries of the catalogue name all folders of templates, and no other.
func TestTemplatesOfPlugins(t *testing.T) {
	t.Parallel()
	entries, err := templates.FS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, e := range entries {
		want = append(want, e.Name())
	}
	for _, e := range catalogue() {
		got = append(got, e.Templates...)
	}
	slices.Sort(got)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("the catalogue has the folders %q, want %q", got, want)
	}
}
