package kinds

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

var update = flag.Bool("update", false, "write builtin.txt as the API server says")

// TestBuiltin compares the recorded table with what a real API server lists.
func TestBuiltin(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	var version struct{ Major, Minor string }
	s.Get("/version", &version)
	if got := version.Major + "." + version.Minor; got != Release {
		t.Fatalf("the API server is of release %s, and the table of %s", got, Release)
	}
	want := "# What an API server of Kubernetes " + Release + " lists, in its order.\n" +
		"# version kind plural scope short-names categories subresources verbs\n"
	groupVersions := []string{"v1"}
	for _, g := range s.Groups() {
		if g.Versions[0] != g.PreferredVersion {
			t.Errorf("%s is preferred, and %s listed first", g.PreferredVersion.GroupVersion, g.Versions[0].GroupVersion)
		}
		for _, v := range g.Versions {
			groupVersions = append(groupVersions, v.GroupVersion)
		}
	}
	var lines []string
	for _, gv := range groupVersions {
		lines = append(lines, served(s, gv)...)
	}
	want += strings.Join(lines, "")
	if *update {
		if err := os.WriteFile("builtin.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(want, recorded); diff != "" {
		t.Errorf("builtin.txt differs from the API server (-server +table):\n%s", diff)
	}
}

// served are the lines for a group and version.
func served(s servertest.Server, groupVersion string) []string {
	s.Helper()
	var list struct {
		Resources []struct {
			Name, SingularName, Kind, Group string
			Namespaced                      bool
			Verbs, ShortNames, Categories   []string
		}
	}
	s.Get(servertest.Root(groupVersion), &list)
	subresources := map[string][]string{}
	for _, r := range list.Resources {
		if of, sub, is := strings.Cut(r.Name, "/"); is {
			subresources[of] = append(subresources[of], sub)
		}
	}
	var lines []string
	for _, r := range list.Resources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		if r.SingularName != strings.ToLower(r.Kind) || r.Group != "" || len(r.Verbs) == 0 {
			s.Errorf("%s %s: the table cannot say singular %q, group %q, verbs %q", groupVersion, r.Kind, r.SingularName, r.Group, r.Verbs)
		}
		scope := "cluster"
		if r.Namespaced {
			scope = "namespaced"
		}
		slices.Sort(r.Verbs)
		verbs := strings.Join(r.Verbs, ",")
		if slices.Equal(r.Verbs, stored) {
			verbs = everything
		}
		column := func(list []string) string { return cmp.Or(strings.Join(list, ","), "-") }
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s %s %s\n", groupVersion, r.Kind, r.Name, scope,
			column(r.ShortNames), column(r.Categories), column(subresources[r.Name]), verbs))
	}
	return lines
}

// TestCore compares the table with the one of package project, which has what it
// takes to make objects and import types, and no names beside kind and plural.
func TestCore(t *testing.T) {
	t.Parallel()
	row := func(group, version, kind, plural string, namespaced, watched bool) string {
		return fmt.Sprintf("%s/%s %s %s namespaced=%t watched=%t", group, version, kind, plural, namespaced, watched)
	}
	var here, there []string
	for _, k := range Builtin().All() {
		if k.Group != "apiregistration.k8s.io" { // whose types project has no use for
			here = append(here, row(k.Group, k.Version, k.Kind, k.Resource, k.Namespaced, k.Can("watch")))
		}
	}
	for _, k := range project.CoreKinds() {
		there = append(there, row(k.Resource().QualifiedGroup(), k.Version, k.Kind, k.Plural, k.Namespaced, k.Stored))
	}
	slices.Sort(here)
	slices.Sort(there)
	if diff := gocmp.Diff(there, here); diff != "" {
		t.Errorf("-project +kinds:\n%s", diff)
	}
}

// TestOrder asks a real API server with CRDs for its order and preferred versions,
// which Find relies on.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	table := Builtin()
	for _, text := range []string{crontabs, widgets} {
		if code, content, err := s.Request(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", text); err != nil || code != http.StatusCreated {
			t.Fatalf("%v %d %s", err, code, content)
		}
		crds, err := FromYAML([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		table = table.With(crds...)
	}
	s.Await("/apis/stable.example.com/v1beta1")
	s.Await("/apis/example.com/v1")
	want := map[string][]string{} // versions by group
	var order []string
	for _, g := range s.Groups() {
		for _, v := range g.Versions {
			group, version, _ := strings.Cut(v.GroupVersion, "/")
			want[group] = append(want[group], version)
		}
		group, _, _ := strings.Cut(g.PreferredVersion.GroupVersion, "/")
		order = append(order, group)
	}
	var groups []string
	got := map[string][]string{}
	for _, k := range table.All() {
		if k.Group == "" {
			continue
		}
		if !slices.Contains(groups, k.Group) {
			groups = append(groups, k.Group)
		}
		if !slices.Contains(got[k.Group], k.Version) {
			got[k.Group] = append(got[k.Group], k.Version)
		}
	}
	if diff := gocmp.Diff(order, groups); diff != "" {
		t.Errorf("order of groups (-server +table):\n%s", diff)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("versions (-server +table):\n%s", diff)
	}
}
