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

var update = flag.Bool("update", false, "record builtin.txt")

// TestBuiltin compares the recorded table with the discovery of a real API server.
func TestBuiltin(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t)
	var version struct{ Major, Minor string }
	s.Get("/version", &version)
	if got := version.Major + "." + version.Minor; got != Release {
		t.Fatalf("the API server has the release %s, but the table has %s", got, Release)
	}
	want := "# The kinds of an API server of Kubernetes " + Release + ", in the order of its discovery.\n" +
		"# version kind plural scope short-names categories subresources verbs\n"
	groupVersions := []string{"v1"}
	for _, g := range s.Groups() {
		if g.Versions[0] != g.PreferredVersion {
			t.Errorf("%s is preferred, but %s is first", g.PreferredVersion.GroupVersion, g.Versions[0].GroupVersion)
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

// served returns the lines for a group and version.
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
		if resource, subresource, found := strings.Cut(r.Name, "/"); found {
			subresources[resource] = append(subresources[resource], subresource)
		}
	}
	var lines []string
	for _, r := range list.Resources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		if r.SingularName != strings.ToLower(r.Kind) || r.Group != "" || len(r.Verbs) == 0 {
			s.Errorf("%s %s: the table cannot represent singular %q, group %q, verbs %q", groupVersion, r.Kind, r.SingularName, r.Group, r.Verbs)
		}
		scope := "cluster"
		if r.Namespaced {
			scope = "namespaced"
		}
		slices.Sort(r.Verbs)
		verbs := strings.Join(r.Verbs, ",")
		if slices.Equal(r.Verbs, storedVerbs) {
			verbs = allVerbs
		}
		column := func(list []string) string { return cmp.Or(strings.Join(list, ","), "-") }
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s %s %s\n", groupVersion, r.Kind, r.Name, scope,
			column(r.ShortNames), column(r.Categories), column(subresources[r.Name]), verbs))
	}
	return lines
}

// TestCore compares the table with the core kinds of package project.
func TestCore(t *testing.T) {
	t.Parallel()
	row := func(group, version, kind, plural string, namespaced, watched bool) string {
		return fmt.Sprintf("%s/%s %s %s namespaced=%t watched=%t", group, version, kind, plural, namespaced, watched)
	}
	var ours, projects []string
	for _, k := range Builtin().All() {
		if k.Group != "apiregistration.k8s.io" { // package project does not support these kinds
			ours = append(ours, row(k.Group, k.Version, k.Kind, k.Resource, k.Namespaced, k.Supports("watch")))
		}
	}
	for _, k := range project.CoreKinds() {
		projects = append(projects, row(k.Resource().QualifiedGroup(), k.Version, k.Kind, k.Plural, k.Namespaced, k.Stored))
	}
	slices.Sort(ours)
	slices.Sort(projects)
	if diff := gocmp.Diff(projects, ours); diff != "" {
		t.Errorf("-project +kinds:\n%s", diff)
	}
}

// TestOrder compares the order of groups and versions, on which Find relies, with that of a real
// API server with CRDs.
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
