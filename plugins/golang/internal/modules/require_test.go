package modules

import (
	"testing"

	"github.com/operon-dev/operon/internal/gomod"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"golang.org/x/mod/modfile"
)

// TestModuleOf checks that the version in go.mod takes precedence over the version in PROJECT.
func TestModuleOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		module, goMod string
		want          gomod.Module
		direct        bool
	}{
		"not required":      {"example.net/gauges@v1.2.3", "", gomod.Module{Path: "example.net/gauges", Version: "v1.2.3"}, false},
		"direct":            {"example.net/gauges@v1.2.3", "example.net/gauges v1.5.0", gomod.Module{Path: "example.net/gauges", Version: "v1.5.0"}, true},
		"indirect":          {"example.net/gauges@v1.2.3", "example.net/gauges v1.5.0 // indirect", gomod.Module{Path: "example.net/gauges", Version: "v1.5.0"}, false},
		"module not known":  {"", "example.net/gauges v1.5.0 // indirect", gomod.Module{Path: "example.net/gauges", Version: "v1.5.0"}, false},
		"longest path wins": {"", "example.net/gauges/api v1.6.0\n\texample.net/gauges v1.5.0 // indirect", gomod.Module{Path: "example.net/gauges/api", Version: "v1.6.0"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := modfile.Parse(GoMod, []byte("module example.org/fleet\n\nrequire (\n\t"+test.goMod+"\n)\n"), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := project.Resource{External: true, Path: "example.net/gauges/api/v1", Module: test.module}
			if m, direct := moduleOf(plugin.Event{Resource: &r}, f); m != test.want || direct != test.direct {
				t.Errorf("got %v, direct %t", m, direct)
			}
		})
	}
}
