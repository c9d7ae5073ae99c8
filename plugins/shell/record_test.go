package shell

import (
	"testing"

	"github.com/operon-dev/operon/internal/project"
)

// TestRecorded checks that the names in PROJECT, which a user can edit, are validated.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		record any
		want   string
	}{
		"empty":         {object{}, ""},
		"hook":          {object{"hooks": list{object{"name": "pods", "lang": "bash"}}}, ""},
		"type":          {object{"hooks": "x"}, "hooks has an unexpected string"},
		"language":      {object{"lang": "perl"}, `unknown lang "perl"`},
		"hook language": {object{"hooks": list{object{"name": "pods", "lang": "perl"}}}, `unknown lang "perl" of the hook pods`},
		"no name":       {object{"hooks": list{object{"lang": "bash"}}}, "a hook has no name"},
		"parent folder": {object{"hooks": list{object{"name": "../../x", "lang": "bash"}}}, `hook name "../../x" is not a DNS label (RFC 1123)`},
		"absolute path": {object{"hooks": list{object{"name": "/tmp/x", "lang": "bash"}}}, `hook name "/tmp/x" is not a DNS label (RFC 1123)`},
		"no label":      {object{"hooks": list{object{"name": "My Hook", "lang": "bash"}}}, `hook name "My Hook" is not a DNS label (RFC 1123)`},
		"twice":         {object{"hooks": list{object{"name": "a", "lang": "bash"}, object{"name": "a", "lang": "bash"}}}, "the hook a occurs twice"},
		"binding":       {object{"hooks": list{object{"name": "a", "lang": "bash", "kubernetes": list{object{"name": "x; y", "kind": "Pod"}}}}}, `binding name "x; y" of the hook a is not valid`},
		"schedule":      {object{"hooks": list{object{"name": "a", "lang": "bash", "schedule": list{object{"name": "../x"}}}}}, `binding name "../x" of the hook a is not valid`},
		"kind":          {object{"hooks": list{object{"name": "a", "lang": "bash", "validate": list{object{"kind": "a/b"}}}}}, `kind "a/b" of the hook a is not valid`},
	} {
		c := &project.Config{Plugins: map[string]any{Key: test.record}}
		_, err := recorded(c)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (err == nil || err.Error() != "PROJECT: plugins: "+Key+": "+test.want):
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
}

type list = []any
type object = map[string]any
