//go:build testall

package grafana

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/google/go-cmp/cmp"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	sdk "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/spf13/afero"
)

func plan(t *testing.T, e plugin.Event, files map[string]string) (*scaffold.Plan, error) {
	t.Helper()
	disk := afero.NewMemMapFs()
	for name, content := range files {
		if err := afero.WriteFile(disk, name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := scaffold.New(disk, scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return p, Plugin{}.Plan(t.Context(), e, p)
}

func added() plugin.Event {
	return plugin.Event{Type: plugin.Edit, Before: &project.Config{}, Project: &project.Config{ProjectName: "fleet", Layout: []string{"go.kubebuilder.io/v4"}}}
}

func read(t *testing.T, p *scaffold.Plan, name string) string {
	t.Helper()
	content, err := p.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

const code = `package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	frigates = prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "fleet", Subsystem: "ships", Name: "frigates", Help: "x"}, nil)
	shots    = prometheus.NewCounter(prometheus.CounterOpts{Name: "fleet_shots_total"})
	unknown  = prometheus.NewCounter(prometheus.CounterOpts{Name: name()})
	wait     = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "fleet_wait_seconds"})
)
`

// TestDashboards reads all dashboards with Grafana's own types, and all queries with a parser of PromQL.
func TestDashboards(t *testing.T) {
	t.Parallel()
	plugins.RegisterDefaultPlugins()
	p, err := plan(t, added(), map[string]string{"internal/metrics/metrics.go": code})
	if err != nil {
		t.Fatal(err)
	}
	const want = "customMetrics:\n- metric: fleet_ships_frigates\n  type: gauge\n- metric: fleet_shots_total\n  type: counter\n- metric: fleet_wait_seconds\n  type: histogram\n"
	if got := read(t, p, customConfig); !strings.HasSuffix(got, want) {
		t.Errorf("%s has\n%s\nwant\n%s", customConfig, got, want)
	}
	for _, name := range []string{"grafana/controller-runtime-metrics.json", "grafana/controller-resources-metrics.json", customDashboard} {
		content := read(t, p, name)
		var d sdk.Dashboard //nolint:staticcheck // the form that all versions of Grafana read
		for _, err := range []error{d.UnmarshalJSONStrict([]byte(content)), d.Validate()} {
			if err != nil && err.Error() != "" { // without errors, they return an empty list
				t.Errorf("%s: %v", name, err)
			}
		}
		queries := queriesOf(t, content)
		if len(queries) < 3 {
			t.Errorf("%s has the queries %q", name, queries)
		}
		for _, q := range queries {
			q = strings.NewReplacer("$__rate_interval", "5m", "$job", "j", "$namespace", "n", "$pod", "p").Replace(q)
			if _, err := metricsql.Parse(q); err != nil {
				t.Errorf("%s: %s: %v", name, q, err)
			}
		}
	}
}

func queriesOf(t *testing.T, content string) (queries []string) {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal([]byte(content), &d); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
		}
	}
	return queries
}

// TestMetrics finds the metrics of the standard dashboards in the libraries that export them.
func TestMetrics(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/controller-runtime", "k8s.io/client-go", "github.com/prometheus/client_golang")
	cmd.Dir = repository.Path("testdata/golden/fleet")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for dir := range strings.FieldsSeq(string(out)) {
		for _, below := range []string{"pkg", "prometheus", "tools/leaderelection"} {
			err := filepath.WalkDir(filepath.Join(dir, below), func(name string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
					return nil
				}
				content, err := os.ReadFile(name)
				source.Write(content)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	text := source.String()
	for _, d := range []dashboard{controllerRuntime("fleet"), process("fleet")} {
		content, err := d.encode()
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queriesOf(t, string(content)) {
			name, _, _ := strings.Cut(q, "{")
			name = strings.TrimSuffix(name[strings.LastIndexAny(name, "( ")+1:], "_bucket")
			part := "" // libraries join these names with the rest
			for _, prefix := range []string{"workqueue_", "go_memstats_"} {
				if rest, ok := strings.CutPrefix(name, prefix); ok {
					part = rest
				}
			}
			if !strings.Contains(text, `"`+name+`"`) && (part == "" || !strings.Contains(text, `"`+part+`"`)) {
				t.Errorf("no library exports the metric %s", name)
			}
		}
	}
}

func TestCustomErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ config, want string }{
		"no list":      {"customMetrics: x\n", "grafana/custom-metrics/config.yaml: customMetrics is not a list"},
		"no mapping":   {"customMetrics:\n- x\n", "grafana/custom-metrics/config.yaml:2: the entry is not a metric"},
		"unknown key":  {"customMetrics:\n- metric: a\n  typ: gauge\n", `grafana/custom-metrics/config.yaml:3: unknown key "typ"`},
		"no name":      {"customMetrics:\n- type: gauge\n", `grafana/custom-metrics/config.yaml:2: "" is not the name of a metric`},
		"unknown type": {"customMetrics:\n- metric: a\n  type: timer\n", `grafana/custom-metrics/config.yaml:2: the type of a is "timer"`},
		"twice":        {"customMetrics:\n- {metric: a, type: gauge}\n- {metric: a, type: gauge}\n", "grafana/custom-metrics/config.yaml:3: the metric a occurs twice"},
	} {
		e := added()
		e.Type, e.Before = plugin.Generate, nil
		_, err := plan(t, e, map[string]string{customConfig: tt.config})
		if err == nil || err.Error() != tt.want || fault.HintOf(err) == "" {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

// TestCustom generates the queries of custom metrics.
func TestCustom(t *testing.T) {
	t.Parallel()
	e := added()
	e.Type = plugin.Generate
	p, err := plan(t, e, map[string]string{customConfig: "customMetrics:\n- {metric: a_total, type: counter}\n- {metric: b_seconds, type: histogram}\n- {metric: c, type: gauge, expr: 'max(c)', unit: percent}\n"})
	if err != nil {
		t.Fatal(err)
	}
	const from = `{job="$job", namespace="$namespace", pod=~"$pod"}`
	want := []string{"sum(rate(a_total" + from + "[$__rate_interval]))",
		"histogram_quantile(0.5, sum by (le) (rate(b_seconds_bucket" + from + "[$__rate_interval])))",
		"histogram_quantile(0.9, sum by (le) (rate(b_seconds_bucket" + from + "[$__rate_interval])))",
		"histogram_quantile(0.99, sum by (le) (rate(b_seconds_bucket" + from + "[$__rate_interval])))", "max(c)"}
	if diff := cmp.Diff(want, queriesOf(t, read(t, p, customDashboard))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEmpty generates no dashboard without custom metrics.
func TestEmpty(t *testing.T) {
	t.Parallel()
	p, err := plan(t, added(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Exists(customDashboard) || !strings.HasSuffix(read(t, p, customConfig), "\ncustomMetrics: []\n") {
		t.Errorf("unexpected files: %v", p.Changes())
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	e := added()
	e.Project.Layout = []string{"shell.operon.dev/v1"}
	if _, err := plan(t, e, nil); err == nil || fault.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
}
