package kustomize

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

// TestRandomSequences checks that in any order of commands each kustomization lists each
// file once, PROJECT is read back unchanged, and repeats change nothing.
func TestRandomSequences(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := sequence{Rand: rand.New(rand.NewPCG(seed, 1)), fsys: afero.NewMemMapFs(), c: config()}
			s.c.Repo = "example.org/fleet"
			s.c.MultiGroup, s.c.Namespaced = seed%2 == 0, seed%3 == 0
			s.plan(t, true, plugin.Event{Type: plugin.Init, Project: s.c})
			for range 20 {
				s.step(t)
			}
			s.plan(t, false, replay(s.c)...)
			all := files(t, s.fsys)
			checkTree(t, all)
			s.checkLists(t, all)
			if s.served {
				checkWebhooks(t, s.c, build(t, s.fsys, s.c, "config/default"))
			}
		})
	}
}

// sequence is a project that grows at random.
type sequence struct {
	*rand.Rand
	fsys    afero.Fs
	c       *project.Config
	project []byte // PROJECT
	served  bool   // there are webhooks
}

// step adds a resource, a part of one, or webhooks, and repeats the command.
func (s *sequence) step(t *testing.T) {
	t.Helper()
	if len(s.c.Resources) > 0 && s.IntN(3) == 0 {
		r := s.webhooks()
		record(s.c, r)
		s.encode(t)
		s.plan(t, true, webhookEvent(s.c, &r))
		generate(t, s.fsys, s.c)
		s.plan(t, false, webhookEvent(s.c, &r))
		s.served = true
		return
	}
	r := s.valid()
	s.c.Put(r)
	e := plugin.Event{Type: plugin.CreateAPI, Project: s.c, Resource: &r}
	s.encode(t)
	s.plan(t, true, e)
	before := string(s.project)
	s.c.Put(r)
	s.encode(t)
	if diff := cmp.Diff(before, string(s.project)); diff != "" {
		t.Errorf("PROJECT after a repeat of %+v: %s", r, diff)
	}
	s.plan(t, false, e)
}

// webhooks returns an existing resource with new webhooks. It becomes the hub of its kind
// if there is none.
func (s *sequence) webhooks() project.Resource {
	r := s.c.Resources[s.IntN(len(s.c.Resources))]
	hub := slices.ContainsFunc(s.c.Resources, func(o project.Resource) bool {
		return o.SameKind(r) && o.Webhooks != nil && o.Webhooks.Conversion
	})
	if !hub && s.IntN(2) == 0 {
		return served(r, s.pick("c", "dc", "dvc"))
	}
	return served(r, s.pick("d", "v", "dv"))
}

// valid returns a random resource that is valid in the project.
func (s *sequence) valid() project.Resource {
	for {
		r := project.Resource{
			Group:      s.pick("ship", "ship", "crew", "", "3scale", "foo.bar-baz", "null"),
			Domain:     s.c.Domain,
			Version:    s.pick("v1", "v2", "v1beta1"),
			Kind:       s.pick("Frigate", "Captain", "S3", "DNS", "NFS", "Type", "Null", "Person", "On", "FrigateSpec", "Metrics", "HTTPRoute"),
			Plural:     s.pick("", "", "", "y", "n1", "crews"),
			API:        &project.API{CRDVersion: "v1", Namespaced: s.IntN(3) > 0},
			Controller: s.IntN(2) > 0,
		}
		if known := s.c.Find(r.Group, r.Version, r.Kind); known != nil {
			r.Plural, r.API, r.Controller = known.Plural, known.API, known.Controller || r.Controller
			r.Webhooks = known.Webhooks
		}
		r.Path = s.c.APIPath(r)
		if s.c.ValidateResource(r) == nil {
			return r
		}
	}
}

func (s *sequence) pick(words ...string) string { return words[s.IntN(len(words))] }

// encode writes PROJECT and reads it back.
func (s *sequence) encode(t *testing.T) {
	t.Helper()
	if err := s.c.Validate(); err != nil {
		t.Fatal(err)
	}
	out, err := s.c.Encode(s.project)
	if err != nil {
		t.Fatal(err)
	}
	back, err := project.Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.c, back, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("PROJECT differs when it is read back (-want +got): %s\n%s", diff, out)
	}
	s.project = out
}

// plan plans and applies events in one plan, and checks whether they change anything
// besides PROJECT.
func (s *sequence) plan(t *testing.T, mayChange bool, events ...plugin.Event) {
	t.Helper()
	p := newPlan(t, s.fsys, scaffold.Options{Command: "test"})
	for _, e := range events {
		if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range p.Changes() {
		if c.Op == scaffold.Conflict || !mayChange {
			t.Errorf("%s %s\n%s", c.Op, c.Path, c.Diff())
		}
	}
	if err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// checkLists checks that no list has duplicates, that roles and samples list each file,
// and that CRDs list each kind.
func (s *sequence) checkLists(t *testing.T, all map[string]string) {
	t.Helper()
	listed := map[string]int{}
	objects := map[string]string{} // by what kustomize tells them apart by
	for name, content := range all {
		if path.Base(name) == kustomization {
			for _, entry := range entries(t, all, name) {
				listed[path.Join(path.Dir(name), entry)]++
			}
		}
		for _, doc := range documents(t, name, content) {
			id := fmt.Sprint(path.Dir(name), at(doc, "apiVersion"), at(doc, "kind"), at(doc, "metadata", "name"))
			if other := objects[id]; other != "" && at(doc, "metadata", "name") != nil && strings.HasPrefix(name, "config/rbac/") {
				t.Errorf("%s and %s contain the same object %s", name, other, id)
			}
			objects[id] = name
		}
	}
	for name := range all {
		dir := path.Dir(name)
		if (dir == "config/rbac" || dir == "config/samples") && path.Base(name) != kustomization && listed[name] == 0 {
			t.Errorf("%s is not listed", name)
		}
	}
	for _, r := range s.c.Resources {
		if crd := path.Join("config/crd", crdBase(r)); listed[crd] == 0 {
			t.Errorf("%s is not listed", crd)
		}
	}
	for name, times := range listed {
		if times > 1 {
			t.Errorf("%s is listed %d times", name, times)
		}
	}
}
