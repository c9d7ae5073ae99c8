package helm

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// started returns a new project with the kind Galley and its starter chart.
func started(t *testing.T) (*project.Config, *scaffold.Plan) {
	t.Helper()
	p, err := scaffold.New(afero.NewMemMapFs(), scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	r := project.Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Galley", API: &project.API{CRDVersion: "v1", Namespaced: true}}
	c := &project.Config{Version: "3", Domain: "example.org", ProjectName: "fleet", Layout: []string{Key}}
	c.Put(r)
	for _, e := range []plugin.Event{{Type: plugin.Init}, {Type: plugin.CreateAPI, Resource: &r, Chart: &plugin.Chart{}}, {Type: plugin.Generate}} {
		e.Project = c
		if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
			t.Fatal(err)
		}
	}
	return c, p
}

// TestStarterChart renders the starter chart with each of its options, and checks that its pods meet
// the restricted pod security standard.
func TestStarterChart(t *testing.T) {
	t.Parallel()
	_, p := started(t)
	if len(p.Warnings()) > 0 {
		t.Errorf("warnings %v", p.Warnings())
	}
	c, err := readChart(chartsDir+"/galley", p)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		values map[string]any
		want   string
	}{
		{nil, "Deployment Service ServiceAccount"},
		{map[string]any{"ingress": map[string]any{"enabled": true, "tlsSecret": "tls", "className": "public"}}, "Deployment Ingress Service ServiceAccount"},
		{map[string]any{"autoscaling": map[string]any{"enabled": true}, "env": map[string]any{"LEVEL": "7"}}, "Deployment HorizontalPodAutoscaler Service ServiceAccount"},
	} {
		rendered, err := chart.Render(c, tc.values, chart.Release{Name: "a", Namespace: "b"}, chart.Cluster{Version: "v1.37.0"})
		if err != nil {
			t.Fatal(err)
		}
		objects, err := chart.Objects(rendered)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, o := range objects {
			kinds = append(kinds, o.GetKind())
			if problems := chart.Lint(o); len(problems) > 0 {
				t.Errorf("%s: %v", o.GetKind(), problems)
			}
		}
		if got := strings.Join(kinds, " "); got != tc.want {
			t.Errorf("objects %s, want %s", got, tc.want)
		}
		for _, part := range []string{"runAsNonRoot: true", "type: RuntimeDefault", "allowPrivilegeEscalation: false", "- ALL"} {
			if !strings.Contains(rendered["templates/deployment.yaml"], part) {
				t.Errorf("the Deployment lacks %q", part)
			}
		}
	}
}
