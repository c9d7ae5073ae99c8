package kubeapi

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/servertest"
)

var update = flag.Bool("update", false, "record core_kinds.txt")

// discovery is what a real API server serves.
type discovery struct {
	Release   string
	Groups    []servertest.Group
	Resources map[string][]resource // by group and version
	Extended  []servertest.Group    // the groups after addedCRDs are added
}

type resource struct {
	Name, SingularName, Kind, Group string
	Namespaced                      bool
	Verbs, ShortNames, Categories   []string
}

// addedCRDs are added to the API server.
var addedCRDs = []string{crontabs, widgets}

var asking sync.Mutex // the first test that needs the discovery starts the API server for all

// discover returns the discovery of a real API server.
func discover(t *testing.T) discovery {
	t.Helper()
	asking.Lock()
	defer asking.Unlock()
	return answers.Ask(t, "discovery", servertest.Question(addedCRDs...), func() discovery {
		s, d := servertest.Start(t), discovery{Resources: map[string][]resource{}}
		var version struct{ Major, Minor string }
		s.Get("/version", &version)
		d.Release, d.Groups = version.Major+"."+version.Minor, s.Groups()
		for _, groupVersion := range groupVersions(d.Groups) {
			var list struct{ Resources []resource }
			s.Get(servertest.Root(groupVersion), &list)
			d.Resources[groupVersion] = list.Resources
		}
		for _, text := range addedCRDs {
			if code, content, err := s.Request(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", text); err != nil || code != http.StatusCreated {
				t.Fatalf("%v %d %s", err, code, content)
			}
		}
		s.Await("/apis/stable.example.com/v1beta1")
		s.Await("/apis/example.com/v1")
		d.Extended = s.Groups()
		return d
	})
}

// groupVersions returns all versions of the groups, and of the core group.
func groupVersions(groups []servertest.Group) []string {
	all := []string{"v1"}
	for _, g := range groups {
		for _, v := range g.Versions {
			all = append(all, v.GroupVersion)
		}
	}
	return all
}

// TestBuiltin compares the recorded table with the discovery of a real API server.
func TestBuiltin(t *testing.T) {
	t.Parallel()
	d := discover(t)
	if d.Release != Release {
		t.Fatalf("the API server has the release %s, but the table has %s", d.Release, Release)
	}
	want := "# The kinds of an API server of Kubernetes " + Release + ", in the order of its discovery.\n" +
		"# version kind plural scope short-names categories subresources verbs\n"
	for _, g := range d.Groups {
		if g.Versions[0] != g.PreferredVersion {
			t.Errorf("%s is preferred, but %s is first", g.PreferredVersion.GroupVersion, g.Versions[0].GroupVersion)
		}
	}
	var lines []string
	for _, gv := range groupVersions(d.Groups) {
		lines = append(lines, served(t, gv, d.Resources[gv])...)
	}
	want += strings.Join(lines, "")
	file := repository.Path("internal/project/core_kinds.txt")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, string(recorded)); diff != "" {
		t.Errorf("core_kinds.txt differs from the API server (-server +table):\n%s", diff)
	}
}

// served returns the lines for a group and version.
func served(t *testing.T, groupVersion string, resources []resource) []string {
	t.Helper()
	subresources := map[string][]string{}
	for _, r := range resources {
		if resource, subresource, found := strings.Cut(r.Name, "/"); found {
			subresources[resource] = append(subresources[resource], subresource)
		}
	}
	var lines []string
	for _, r := range resources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		if r.SingularName != strings.ToLower(r.Kind) || r.Group != "" || len(r.Verbs) == 0 {
			t.Errorf("%s %s: the table cannot represent singular %q, group %q, verbs %q", groupVersion, r.Kind, r.SingularName, r.Group, r.Verbs)
		}
		scope := "cluster"
		if r.Namespaced {
			scope = "namespaced"
		}
		slices.Sort(r.Verbs)
		verbs := strings.Join(r.Verbs, ",")
		if slices.Equal(r.Verbs, project.StoredVerbs) {
			verbs = "*"
		}
		column := func(list []string) string { return cmp.Or(strings.Join(list, ","), "-") }
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s %s %s\n", groupVersion, r.Kind, r.Name, scope,
			column(r.ShortNames), column(r.Categories), column(subresources[r.Name]), verbs))
	}
	return lines
}

// TestOrder compares the order of groups and versions, on which Find relies, with the order of a real
// API server with CRDs.
func TestOrder(t *testing.T) {
	t.Parallel()
	table := Builtin()
	for _, text := range addedCRDs {
		more, err := ReadCRDs([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		table = table.With(more...)
	}
	want := map[string][]string{} // versions by group
	var order []string
	for _, g := range discover(t).Extended {
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
