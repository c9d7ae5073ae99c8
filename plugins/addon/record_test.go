package addon

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
		"empty":           {object{}, ""},
		"hook":            {object{"hooks": list{object{"name": "pods", "lang": "bash"}}}, ""},
		"type":            {object{"hooks": "x"}, "hooks has an unexpected string"},
		"language":        {object{"lang": "perl"}, `unknown lang "perl"`},
		"parent folder":   {object{"hooks": list{object{"name": "../../x", "lang": "bash"}}}, `hook name "../../x" is not a DNS label (RFC 1123)`},
		"twice":           {object{"hooks": list{object{"name": "a", "lang": "bash"}, object{"name": "a", "lang": "bash"}}}, "the hook a occurs twice"},
		"module":          {object{"modules": list{object{"name": "../../x"}}}, `module name "../../x" is not a valid name of a Helm release`},
		"absolute module": {object{"modules": list{object{"name": "/tmp/x"}}}, `module name "/tmp/x" is not a valid name of a Helm release`},
		"weight":          {object{"modules": list{object{"name": "web", "weight": 1000}}}, "the weight 1000 of the module web is not a number from 0 to 999"},
		"negative":        {object{"modules": list{object{"name": "web", "weight": -1}}}, "the weight -1 of the module web is not a number from 0 to 999"},
		"module twice":    {object{"modules": list{object{"name": "web"}, object{"name": "web"}}}, "the module web occurs twice"},
		"unknown module":  {object{"hooks": list{object{"name": "a", "lang": "bash", "module": "../.."}}}, "the hook a has the module ../.., which is not among the modules"},
		"same name":       {object{"modules": list{object{"name": "web"}}, "hooks": list{object{"name": "a", "lang": "bash", "module": "web"}, object{"name": "a", "lang": "bash"}}}, ""},
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
