package yamledit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSet(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ src, want string }{
		"next to other keys": {"a: 1 # one\nmetadata:\n  labels:\n    a: x\n    z: y\n", "a: 1 # one\nmetadata:\n  labels:\n    a: x\n    k: \"true\"\n    z: y\n"},
		"no labels":          {"metadata:\n  name: n\n", "metadata:\n  labels:\n    k: \"true\"\n  name: n\n"},
		"again":              {"metadata:\n  labels:\n    k: 'true'\n", "metadata:\n  labels:\n    k: 'true'\n"},
	} {
		got, err := Set([]byte(tt.src), []string{"metadata", "labels"}, "k", "true")
		if diff := cmp.Diff(tt.want, string(got)); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", name, err, diff)
		}
	}
	if got, err := Set([]byte("metadata: [x]\n"), []string{"metadata", "labels"}, "k", "v"); err == nil {
		t.Errorf("a list instead of a mapping became\n%s", got)
	}
}
