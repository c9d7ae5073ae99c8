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
	x := initialised(t, nil)
	asked := func(name, value string) error {
		_, err := x.plan(plugin.Event{Type: plugin.Init, Options: map[string]any{name: value}, Environment: plugin.Environment{Year: "2031"}})
		return err
	}
	if err := asked("license", "apache2"); err != nil {
		t.Errorf("asking again for the same licence, years later: %v", err)
	}
	for name, value := range map[string]string{"license": "none", "owner": "Somebody Else"} {
		if err := asked(name, value); fault.Code(err) != fault.CodeUsage {
			t.Errorf("--%s %s in a project with another header: %v", name, value, err)
		}
	}
}

func TestBrokenHeaderStopsTheCommand(t *testing.T) {
	t.Parallel()
	x := start(t, map[string]string{header.File: "Copyright by me\n"})
	_, err := x.plan(plugin.Event{Type: plugin.Init, Options: map[string]any{"repo": "example.org/fleet"}})
	if err == nil || !strings.Contains(err.Error(), `hack/boilerplate.go.txt: line 1: "Copyright" stands outside a comment`) {
		t.Errorf("got %v", err)
	}
}
