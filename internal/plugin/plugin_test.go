package plugin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// recorder is a plugin that writes the type of the event to a file.
type recorder string

func (n recorder) Name() string    { return string(n) }
func (recorder) Doc() string       { return "notes" }
func (recorder) Options() []Option { return nil }
func (n recorder) Plan(_ context.Context, e Event, p *scaffold.Plan) error {
	return p.Share(string(n)+".txt", 0o644, []byte(e.Type))
}

var catalogue = Catalogue{
	{Key: "go.example.org/v4", Plugins: Set{recorder("manifests"), recorder("code")}},
	{Key: "shell.example.org/v1", Plugins: Set{recorder("manifests"), recorder("hooks")}},
	{Key: "shell.elsewhere.io/v2-alpha", Companion: true, Plugins: Set{recorder("shells")}},
	{Key: "bundles.example.org/v2", Short: "extra", Companion: true, Plugins: Set{recorder("bundles")}},
}

func names(s Set) string {
	var all []string
	for _, p := range s {
		all = append(all, p.Name())
	}
	return strings.Join(all, " ")
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		names, keys string
		code        int
	}{
		{"go", "go.example.org/v4", 0},
		{"go/v4 shell", "go.example.org/v4 shell.elsewhere.io/v2-alpha", 0},
		{"shell go/v4", "shell.elsewhere.io/v2-alpha go.example.org/v4", 0},
		{"go/v4 shell/v1", "go.example.org/v4 shell.example.org/v1", 0},
		{"shell extra", "shell.example.org/v1 bundles.example.org/v2", 0},
		{"go.example.org/v4 go", "go.example.org/v4", 0},
		{"go helm.elsewhere.io/v2-alpha", "go.example.org/v4 helm.elsewhere.io/v2-alpha", 0},
		{"extra bundles.example.org/v2", "bundles.example.org/v2", 0},
		{"bundles", "", fault.CodeUsage},
		{"shell", "shell.example.org/v1", 0},
		{"shell/v2-alpha", "shell.elsewhere.io/v2-alpha", 0},
		{"shell.elsewhere.io/v2-alpha", "shell.elsewhere.io/v2-alpha", 0},
		{"go/v5", "", fault.CodeUsage},
		{"elixir", "", fault.CodeUsage},
		{"go.example.org", "", fault.CodeUsage},
	} {
		keys, err := catalogue.Resolve(strings.Fields(tc.names))
		if strings.Join(keys, " ") != tc.keys || fault.Code(err) != tc.code {
			t.Errorf("%s: %v, %v", tc.names, keys, err)
		}
	}
	for name, want := range map[string]string{"shell": "shell.elsewhere.io/v2-alpha", "shell/v1": "shell.example.org/v1", "go": "go.example.org/v4", "extra": "bundles.example.org/v2"} {
		if keys, err := catalogue.ResolveCompanions([]string{name}); err != nil || keys[0] != want {
			t.Errorf("companion %s: %v, %v", name, keys, err)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	active, unknown, err := catalogue.Select([]string{"go.example.org/v4", "helm.elsewhere.io/v2", "shell.example.org/v1"})
	if err != nil || names(active) != "manifests code hooks" {
		t.Errorf("active %s, %v", names(active), err)
	}
	if diff := cmp.Diff([]string{"helm.elsewhere.io/v2"}, unknown); diff != "" {
		t.Errorf("unknown: %s", diff)
	}
	if _, _, err := catalogue.Select([]string{"helm.elsewhere.io/v2"}); fault.Code(err) != fault.CodeUsage {
		t.Errorf("no known plugin: %v", err)
	}
	if got := names(catalogue.All()); got != "manifests code hooks shells bundles" {
		t.Errorf("all: %s", got)
	}
}

// TestCompanion checks that a plugin that accompanies a layout is active in projects that
// record it.
func TestCompanion(t *testing.T) {
	t.Parallel()
	layout, companions := catalogue.Split([]string{"bundles.example.org/v2", "shell.example.org/v1", "helm.elsewhere.io/v2"})
	if diff := cmp.Diff([][]string{{"shell.example.org/v1", "helm.elsewhere.io/v2"}, {"bundles.example.org/v2"}}, [][]string{layout, companions}); diff != "" {
		t.Error(diff)
	}
	c := &project.Config{Layout: []string{"shell.example.org/v1"}}
	if active, err := catalogue.Active(c); err != nil || names(active) != "manifests hooks" {
		t.Errorf("without: %s, %v", names(active), err)
	}
	c.EncodePluginConfig("bundles.example.org/v2", struct{}{})
	if active, err := catalogue.Active(c); err != nil || names(active) != "manifests hooks bundles" {
		t.Errorf("with: %s, %v", names(active), err)
	}
	if _, err := catalogue.Active(&project.Config{Plugins: c.Plugins}); fault.Code(err) != fault.CodeUsage {
		t.Errorf("a companion alone: %v", err)
	}
}

// TestEventAsJSON checks that an event is the same after it is encoded as JSON
// and decoded.
func TestEventAsJSON(t *testing.T) {
	t.Parallel()
	sent := Event{
		Type: CreateAPI, Dir: "/x", Project: &project.Config{Version: "3", Repo: "example.org/x"},
		Resource: &project.Resource{Group: "ship", Version: "v1", Kind: "Frigate"},
		Options:  map[string]any{"only": []string{"crd", "rbac"}, "make": true, "owner": "me"},
	}
	b, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got Event
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, e := range []Event{sent, got} {
		if diff := cmp.Diff([]string{"crd", "rbac"}, e.Strings("only")); diff != "" {
			t.Errorf("list: %s", diff)
		}
		if !e.Bool("make") || e.String("owner") != "me" || e.Bool("owner") || e.String("nothing") != "" || e.Strings("make") != nil {
			t.Errorf("options %v", e.Options)
		}
	}
	if diff := cmp.Diff(sent.Resource, got.Resource); diff != "" {
		t.Errorf("resource: %s", diff)
	}
}

func TestSetPlan(t *testing.T) {
	t.Parallel()
	p, err := scaffold.New(afero.NewMemMapFs(), scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set := Set{recorder("a"), recorder("b")}
	if err := set.Plan(t.Context(), Event{Type: Init}, p); err != nil || !p.Exists("a.txt") || !p.Exists("b.txt") {
		t.Errorf("plan: %v", err)
	}
	if err := set.Plan(t.Context(), Event{Type: CreateAPI}, p); err == nil {
		t.Error("create-api without a resource is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := set.Plan(ctx, Event{Type: Init}, p); err == nil {
		t.Error("a cancelled context is ignored")
	}
}

func TestLogic(t *testing.T) {
	t.Parallel()
	c := Catalogue{{Key: "go.example.org/v4", Logic: GoCode, Plugins: Set{recorder("code")}}, {Key: "shell.example.org/v1", Logic: Hooks, Plugins: Set{recorder("hooks")}}}
	_, _, err := c.Select([]string{"go.example.org/v4", "shell.example.org/v1"})
	if err == nil || err.Error() != "a project has only one of the layouts go.example.org/v4 and shell.example.org/v1" {
		t.Errorf("two layouts with logic: %v", err)
	}
	if _, _, err := c.Select([]string{"go.example.org/v4", "go.example.org/v4"}); err != nil {
		t.Errorf("a layout twice: %v", err)
	}
	if err := c.CheckConfigs([]string{"go.example.org/v4"}, slices.Values([]string{"cli.example.org/v1", "go.example.org/v4"})); err != nil {
		t.Error(err)
	}
	err = c.CheckConfigs([]string{"go.example.org/v4"}, slices.Values([]string{"shell.example.org/v1"}))
	if err == nil || err.Error() != "PROJECT has the layout go.example.org/v4, but a configuration for shell.example.org/v1" {
		t.Errorf("the configuration of another layout: %v", err)
	}
}

// TestExistingLayout checks that new projects cannot have a layout of repositories that operon did not
// start.
func TestExistingLayout(t *testing.T) {
	t.Parallel()
	c := Catalogue{{Key: "go.example.org/v4", Logic: GoCode, Plugins: Set{recorder("code")}},
		{Key: "base.go.example.org/v4", Short: "base.go.example.org/v4", Logic: GoCode, Plugins: Set{recorder("code")}, Existing: true}}
	if _, err := c.Resolve([]string{"base.go.example.org/v4"}); err == nil || err.Error() != "the layout base.go.example.org/v4 is for repositories that operon did not start" {
		t.Errorf("got %v", err)
	}
	if keys := c.keys(); !slices.Equal(keys, []string{"go.example.org/v4"}) {
		t.Errorf("new projects can have %v", keys)
	}
	if active, _, err := c.Select([]string{"base.go.example.org/v4"}); err != nil || len(active) != 1 {
		t.Errorf("an existing project has %v, %v", active, err)
	}
}

// TestNotYet names the operators of operator-sdk that operon does not have.
func TestNotYet(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ansible", "ansible.sdk.operatorframework.io/v1"} {
		if _, err := catalogue.Resolve([]string{name}); err == nil || err.Error() != "operon does not have operators based on Ansible yet" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := catalogue.Select([]string{"ansible.sdk.operatorframework.io/v1"}); err == nil || !strings.HasPrefix(err.Error(), "operon does not have operators based on Ansible yet") {
		t.Errorf("%v", err)
	}
}

// TestSeedOwn leaves the files of other tools alone.
func TestSeedOwn(t *testing.T) {
	t.Parallel()
	for _, forced := range []bool{false, true} {
		fsys := afero.NewMemMapFs()
		if err := afero.WriteFile(fsys, "theirs", []byte("theirs"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, content := range []string{"first", "second"} {
			p, err := scaffold.New(fsys, scaffold.Options{Force: forced})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"theirs", "ours", "ours"} {
				if err := SeedOwn(p)(name, 0o644, []byte(content)); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"ours": content, "theirs": "theirs"}
			if forced {
				want["theirs"] = content
			}
			for name, text := range want {
				if got, err := afero.ReadFile(fsys, name); err != nil || string(got) != text {
					t.Errorf("forced %v: %s is %q, %v; want %q", forced, name, got, err, text)
				}
			}
		}
	}
}
