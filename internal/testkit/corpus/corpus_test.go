package corpus

import (
	"bytes"
	"maps"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	for _, kinds := range []int{1, 50, 601} {
		files, err := Files(kinds)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for name, src := range files {
			if strings.HasSuffix(name, "_controller.go") {
				seen[name] = true
			}
			if bytes.Contains(src, []byte("<no value>")) {
				t.Errorf("%s prints <no value>", name)
			}
		}
		if len(seen) != kinds {
			t.Errorf("%d kinds, want %d", len(seen), kinds)
		}
		again, err := Files(kinds)
		if err != nil || !maps.EqualFunc(files, again, bytes.Equal) {
			t.Errorf("two calls return different files (%v)", err)
		}
	}
}
