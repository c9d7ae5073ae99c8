package golang

import (
	"context"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"github.com/spf13/afero"
)

// tester is a project in memory.
type tester struct {
	*testing.T
	fs  afero.Fs
	cfg *project.Config
}

// start returns a project over the given files, before init.
func start(t *testing.T, files map[string]string) tester {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, content := range files {
		if err := afero.WriteFile(fsys, name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return tester{t, fsys, &project.Config{Version: "3", Domain: "example.org", ProjectName: "fleet", Layout: []string{Key}}}
}

// initialized returns a project after init.
func initialized(t *testing.T, change func(*project.Config)) tester {
	t.Helper()
	x := start(t, nil)
	if change != nil {
		change(x.cfg)
	}
	x.apply(plugin.Event{Type: plugin.Init, Options: map[string]any{"repo": "example.org/fleet"}, Environment: plugin.Environment{Year: "2026"}})
	return x
}

func (x tester) plan(events ...plugin.Event) (*scaffold.Plan, error) {
	x.Helper()
	p, err := scaffold.New(x.fs, scaffold.Options{Command: "test"})
	if err != nil {
		x.Fatal(err)
	}
	for _, e := range events {
		e.Project, e.Dir = x.cfg, x.TempDir()
		if err := (Plugin{}).Plan(context.Background(), e, p); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (x tester) apply(events ...plugin.Event) *scaffold.Plan {
	x.Helper()
	p, err := x.plan(events...)
	if err != nil {
		x.Fatalf("%v\nhint: %s", err, fault.HintOf(err))
	}
	if err := p.Apply(context.Background()); err != nil {
		x.Fatal(err)
	}
	return p
}

// createAPI records r in the project and returns its event.
func (x tester) createAPI(r project.Resource) plugin.Event {
	if r.API != nil && r.Path == "" {
		r.Path = x.cfg.APIPath(r)
	}
	x.cfg.Put(r)
	return plugin.Event{Type: plugin.CreateAPI, Resource: &r}
}

// write writes a file as a user would; empty content removes it.
func (x tester) write(name, content string) {
	x.Helper()
	err := afero.WriteFile(x.fs, name, []byte(content), 0o644)
	if content == "" {
		err = x.fs.Remove(name)
	}
	if err != nil {
		x.Fatal(err)
	}
}

func (x tester) read(name string) string {
	x.Helper()
	content, err := afero.ReadFile(x.fs, name)
	if err != nil {
		x.Fatal(err)
	}
	return string(content)
}

// base returns what operon last wrote of a file.
func (x tester) base(name string) string {
	x.Helper()
	p, err := x.plan()
	if err != nil {
		x.Fatal(err)
	}
	_, base, err := p.Before(name)
	if err != nil {
		x.Fatal(err)
	}
	return string(base)
}

func (x tester) contains(name string, parts ...string) {
	x.Helper()
	content := x.read(name)
	for _, part := range parts {
		if !strings.Contains(content, part) {
			x.Errorf("%s lacks %q:\n%s", name, part, content)
		}
	}
}

func (x tester) lacks(name string, parts ...string) {
	x.Helper()
	content := x.read(name)
	for _, part := range parts {
		if strings.Contains(content, part) {
			x.Errorf("%s has %q:\n%s", name, part, content)
		}
	}
}

func paths(p *scaffold.Plan) []string {
	var all []string
	for _, c := range p.Changes() {
		all = append(all, string(c.Op)+" "+c.Path)
	}
	return all
}

func frigate() project.Resource {
	return project.Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Frigate",
		API: &project.API{CRDVersion: "v1", Namespaced: true}, Controller: true}
}

func TestRepeatChangesNothing(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	e := x.createAPI(frigate())
	x.apply(e)
	for _, events := range [][]plugin.Event{{e}, {{Type: plugin.Init}, e}, {{Type: plugin.Init, Environment: plugin.Environment{Year: "2031"}}, e}} {
		p, err := x.plan(events...)
		if err != nil {
			t.Fatal(err)
		}
		if got := paths(p); len(got) > 0 || len(p.Warnings()) > 0 {
			t.Errorf("a repeat changes %v, warns %v", got, p.Warnings())
		}
	}
}

// TestGoFilesHaveHeader also checks that all Go files parse, because rendering fails for a
// file that does not.
func TestGoFilesHaveHeader(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "// Made here.\n\n// All of it.\n", "/*\r\nMade here.\r\n*/\r\n"} {
		x := start(t, map[string]string{header.File: text})
		x.apply(plugin.Event{Type: plugin.Init, Options: map[string]any{"repo": "example.org/fleet"}})
		p := x.apply(x.createAPI(frigate()))
		if got := x.read(header.File); got != text {
			t.Errorf("the header became %q, was %q", got, text)
		}
		for _, c := range p.Changes() {
			src := string(c.After)
			if c.Op != scaffold.Create || !strings.HasSuffix(c.Path, ".go") {
				continue
			}
			if want := strings.TrimSpace(strings.ReplaceAll(text, "\r", "")); !strings.HasPrefix(src, want) {
				t.Errorf("%s starts with %.40q, want %q", c.Path, src, want)
			}
			f, err := parser.ParseFile(token.NewFileSet(), c.Path, src, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(f.Doc.Text(), "Made here") {
				t.Errorf("%s: the header is part of the package comment", c.Path)
			}
		}
	}
}

func TestModulePath(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		goMod, recorded, option string
		want, err               string
	}{
		"option":                  {option: "example.org/fleet", want: "example.org/fleet"},
		"go.mod":                  {goMod: "module example.org/x\n", want: "example.org/x"},
		"go.mod and option agree": {goMod: "module example.org/x\n", option: "example.org/x", want: "example.org/x"},
		"go.mod and option differ": {goMod: "module example.org/x\n", option: "example.org/y",
			err: "--repo example.org/y differs from the module path example.org/x in go.mod"},
		"recorded":          {recorded: "example.org/x", want: "example.org/x"},
		"recorded differs":  {recorded: "example.org/x", option: "example.org/y", err: "already initialized with --repo example.org/x"},
		"not a module path": {option: "Bad Repo!!", err: `Bad Repo!!`},
		"required":          {option: "k8s.io/api", err: "the project requires another module with the path k8s.io/api"},
		"go.mod, required":  {goMod: "module sigs.k8s.io/controller-runtime\n", err: "another module with the path sigs.k8s.io/controller-runtime"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			if test.goMod != "" {
				files[modules.GoMod] = test.goMod
			}
			x := start(t, files)
			x.cfg.Repo = test.recorded
			options := map[string]any{}
			if test.option != "" {
				options["repo"] = test.option
			}
			_, err := x.plan(plugin.Event{Type: plugin.Init, Options: options})
			if test.err == "" {
				if err != nil || x.cfg.Repo != test.want {
					t.Errorf("got %q, %v; want %q", x.cfg.Repo, err, test.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.err) || fault.Code(err) != fault.CodeUsage {
				t.Errorf("got error %v (code %d), want %q", err, fault.Code(err), test.err)
			}
		})
	}
}

func TestProjectWithoutRepo(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	x.cfg.Repo = ""
	_, err := x.plan(x.createAPI(frigate()))
	if err == nil || err.Error() != "PROJECT has no repo" || fault.Code(err) != fault.CodeUsage || !strings.Contains(fault.HintOf(err), "repo: example.com/name") {
		t.Errorf("got %v, hint %q", err, fault.HintOf(err))
	}
}
