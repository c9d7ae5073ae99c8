package kustomize

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
	"go.yaml.in/yaml/v3"
)

var (
	frigate   = kind("ship", "v1", "Frigate", true)
	frigateV2 = kind("ship", "v2", "Frigate", true)
	destroyer = kind("ship", "v1", "Destroyer", false)
	captain   = kind("crew", "v1alpha1", "Captain", true)
	s3        = kind("", "v1", "S3", true)
	null      = kind("ship", "v1", "Null", true)
)

func kind(group, version, name string, namespaced bool) project.Resource {
	return project.Resource{Group: group, Domain: "example.org", Version: version, Kind: name,
		API: &project.API{CRDVersion: "v1", Namespaced: namespaced}, Controller: true}
}

func config() *project.Config {
	return &project.Config{Version: "3", Domain: "example.org", ProjectName: "fleet", Layout: []string{Key}}
}

func newPlan(t *testing.T, fsys afero.Fs, o scaffold.Options) *scaffold.Plan {
	t.Helper()
	p, err := scaffold.New(fsys, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// plan plans and applies one event.
func plan(t *testing.T, fsys afero.Fs, e plugin.Event) error {
	t.Helper()
	p := newPlan(t, fsys, scaffold.Options{Command: "test"})
	if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
		return err
	}
	return p.Apply(t.Context())
}

// do runs init (if r is nil) or creates r, like a command.
func do(t *testing.T, fsys afero.Fs, c *project.Config, r *project.Resource) error {
	t.Helper()
	if r == nil {
		return plan(t, fsys, plugin.Event{Type: plugin.Init, Project: c})
	}
	c.Put(*r)
	return plan(t, fsys, plugin.Event{Type: plugin.CreateAPI, Project: c, Resource: r})
}

// scaffolded returns a project with all resources.
func scaffolded(t *testing.T, c *project.Config, resources ...project.Resource) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	if err := do(t, fsys, c, nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range resources {
		if err := do(t, fsys, c, &r); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

// files returns the project's files by path, without .operon.
func files(t *testing.T, fsys afero.Fs) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := afero.Walk(fsys, "", func(name string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() || strings.HasPrefix(name, ".operon") {
			return err
		}
		b, err := afero.ReadFile(fsys, name)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// documents parses a YAML stream.
func documents(t *testing.T, name, content string) []any {
	t.Helper()
	var all []any
	for d := yaml.NewDecoder(bytes.NewBufferString(content)); ; {
		var doc any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, content)
		}
		all = append(all, doc)
	}
}

// object parses a file with one YAML object.
func object(t *testing.T, all map[string]string, name string) map[string]any {
	t.Helper()
	content, ok := all[name]
	if !ok {
		t.Fatalf("no file %s", name)
	}
	m, ok := documents(t, name, content)[0].(map[string]any)
	if !ok {
		t.Fatalf("%s is not a map:\n%s", name, content)
	}
	return m
}

// at returns the value at a path of keys.
func at(m any, keys ...string) any {
	for _, k := range keys {
		v, ok := m.(map[string]any)
		if !ok {
			return nil
		}
		m = v[k]
	}
	return m
}

func entries(t *testing.T, all map[string]string, name string) []string {
	t.Helper()
	list, ok := at(object(t, all, name), "resources").([]any)
	if !ok {
		t.Fatalf("%s: resources is not a list:\n%s", name, all[name])
	}
	var s []string
	for _, v := range list {
		s = append(s, v.(string))
	}
	return s
}

// checkTree checks that every file is YAML and that every entry of a
// kustomization exists. CRDs are generated elsewhere.
func checkTree(t *testing.T, all map[string]string) {
	t.Helper()
	for name, content := range all {
		documents(t, name, content)
		if strings.Contains(content, ":latest") {
			t.Errorf("%s uses the tag latest", name)
		}
		if path.Base(name) != kustomization {
			continue
		}
		for _, entry := range entries(t, all, name) {
			target := path.Join(path.Dir(name), entry)
			_, isFile := all[target]
			_, isTree := all[path.Join(target, kustomization)]
			if !isFile && !isTree && !strings.HasPrefix(target, "config/crd/bases/") {
				t.Errorf("%s lists %s, which does not exist", name, entry)
			}
		}
	}
}

// without returns r without its controller.
func without(r project.Resource) project.Resource {
	r.Controller = false
	return r
}
