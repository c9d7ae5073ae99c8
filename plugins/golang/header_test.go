package golang

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
)

func TestHeaderIsKept(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	repeatInit := func(name, value string) error {
		_, err := x.plan(plugin.Event{Type: plugin.Init, Options: map[string]any{name: value}, Environment: plugin.Environment{Year: "2031"}})
		return err
	}
	if err := repeatInit("license", "apache2"); err != nil {
		t.Errorf("repeating init with the same license in a later year: %v", err)
	}
	for name, value := range map[string]string{"license": "none", "owner": "Somebody Else"} {
		if err := repeatInit(name, value); fault.Code(err) != fault.CodeUsage {
			t.Errorf("--%s %s in a project with another header: %v", name, value, err)
		}
	}
}

func TestMissingHeaderFile(t *testing.T) {
	t.Parallel()
	for license, want := range map[string]int{"apache2": 1, "none": 0} {
		x := start(t, nil)
		x.apply(plugin.Event{Type: plugin.Init, Options: map[string]any{"repo": "example.org/fleet", "license": license}})
		x.write(header.File, "") // removes it
		warnings := x.apply(x.createAPI(frigate())).Warnings()
		if len(warnings) != want || want > 0 && (warnings[0].File != header.File || warnings[0].Rule != "header-missing") {
			t.Errorf("license %s, without the header file: warnings %v, want %d", license, warnings, want)
		}
	}
}

func TestBrokenHeaderStopsTheCommand(t *testing.T) {
	t.Parallel()
	x := start(t, map[string]string{header.File: "Copyright by me\n"})
	_, err := x.plan(plugin.Event{Type: plugin.Init, Options: map[string]any{"repo": "example.org/fleet"}})
	if err == nil || !strings.Contains(err.Error(), `hack/boilerplate.go.txt: line 1: "Copyright" is outside a comment`) {
		t.Errorf("got %v", err)
	}
}
