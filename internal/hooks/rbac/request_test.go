package rbac

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	rbacv1 "k8s.io/api/rbac/v1"
)

// TestRequest prints a request, and the marker that declares it.
func TestRequest(t *testing.T) {
	t.Parallel()
	r := Request{Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "web", Name: "x"}
	if got, want := r.String(), `patch deployments.apps/status "x" in namespace web`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := r.Marker(), "# "+markerName+":groups=apps,resources=deployments/status,verbs=patch"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestMarkersFor returns one marker for each resource, and one for each role that an account binds.
func TestMarkersFor(t *testing.T) {
	t.Parallel()
	got := MarkersFor([]Request{
		{Verb: "list", Resource: "secrets", Namespace: "web"}, {Verb: "get", Resource: "secrets", Namespace: "db", Name: "a"}, {Verb: "get", Resource: "secrets"},
		{Verb: "get", Resource: "nodes", Subresource: "proxy", Name: "n"}, {Verb: "get", URL: "/metrics"},
		{Verb: "create", Group: rbacv1.GroupName, Resource: "rolebindings"}, NewGrant("clusterroles", "web", "view"), NewGrant("clusterroles", "web", "edit"),
	})
	want := []string{
		`groups="",resources=nodes/proxy,verbs=get`,
		`groups="",resources=secrets,verbs=get;list`,
		`groups=rbac.authorization.k8s.io,resources=clusterroles,resourceNames=edit,verbs=bind`,
		`groups=rbac.authorization.k8s.io,resources=clusterroles,resourceNames=view,verbs=bind`,
		`groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=create`,
		`urls=/metrics,verbs=get`,
	}
	for i := range want {
		want[i] = "# " + markerName + ":" + want[i]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, m := range got {
		if _, findings := Markers(Source{"a.sh", []byte(m + "\n")}, nil); len(findings) > 0 {
			t.Errorf("%s: %+v", m, findings)
		}
	}
}

// TestInsertMarkers adds a marker to scripts, once.
func TestInsertMarkers(t *testing.T) {
	t.Parallel()
	const m, old = "# " + markerName + `:groups="",resources=pods,verbs=get`, "# " + markerName + ":groups=apps,resources=deployments,verbs=get"
	for name, tc := range map[string]struct{ text, want string }{
		"below the head":     {"#!/bin/bash\n# About it.\n\necho\n", "#!/bin/bash\n# About it.\nM\n\necho\n"},
		"a first line alone": {"#!/bin/bash", "#!/bin/bash\nM\n"},
		"beside others":      {"#!/bin/bash\nf() {\n\tO\n\tkubectl\n}\n", "#!/bin/bash\nf() {\n\tO\n\tM\n\tkubectl\n}\n"},
		"at the end":         {"#!/bin/bash\necho\nO", "#!/bin/bash\necho\nO\nM\n"},
		"with CR LF":         {"#!/bin/bash\r\necho\r\n", "#!/bin/bash\r\nM\r\necho\r\n"},
		"Python":             {"#!/usr/bin/env python3\n\"\"\"About it.\"\"\"\nimport os\n", "#!/usr/bin/env python3\nM\n\"\"\"About it.\"\"\"\nimport os\n"},
		"present":            {"#!/bin/bash\nM\n", "#!/bin/bash\nM\n"},
	} {
		written := strings.NewReplacer("M", m, "O", old)
		got := InsertMarkers([]byte(written.Replace(tc.text)), []string{m})
		if diff := cmp.Diff(written.Replace(tc.want), string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// FuzzInsertMarkers checks that every line stays, that the markers are there, and that a second time changes nothing.
func FuzzInsertMarkers(f *testing.F) {
	for _, text := range []string{"", "#!/bin/bash\n# a\n", "#!/bin/bash\r\n", "a", "\t# +kubebuilder:rbac:groups=apps\nb", "\r\n#"} {
		f.Add([]byte(text))
	}
	added := []string{Request{Verb: "get", Resource: "pods"}.Marker(), Request{Verb: "get", URL: "/x"}.Marker()}
	f.Fuzz(func(t *testing.T, text []byte) {
		once := InsertMarkers(text, added)
		if twice := InsertMarkers(once, added); string(twice) != string(once) {
			t.Errorf("the second time changes %q to %q", once, twice)
		}
		rest := string(once)
		for line := range strings.Lines(string(text)) {
			_, after, found := strings.Cut(rest, strings.TrimRight(line, "\r\n"))
			if !found {
				t.Fatalf("%q lost %q", once, line)
			}
			rest = after
		}
		for _, m := range added {
			if !strings.Contains(string(once), m) {
				t.Errorf("%q lacks %s", once, m)
			}
		}
	})
}

// TestResultAllows finds the requests that the rules of bindings, markers and libraries allow.
func TestResultAllows(t *testing.T) {
	t.Parallel()
	derived, err := Derive(Input{
		Kinds: kubeapi.Builtin(), Namespace: "ops",
		Hooks: []Hook{{Source: Source{"a.sh", []byte("# " + markerName + ":groups=apps,resources=deployments,verbs=get,namespace=ops\n")},
			Config: &config.Config{Kubernetes: []config.Kubernetes{{Kind: "Secret"}}}}},
		Library: []Source{{"lib/a.sh", []byte("# " + markerName + ":urls=/metrics,verbs=get\n")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for r, want := range map[Request]bool{
		{Verb: "list", Resource: "secrets"}:                                             true,
		{Verb: "watch", Resource: "secrets", Namespace: "web"}:                          true,
		{Verb: "get", Resource: "secrets", Namespace: "web"}:                            false,
		{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "ops"}:         true,
		{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "default"}:     true, // a run on this machine
		{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "web"}:         false,
		{Verb: "get", Group: "apps", Resource: "deployments"}:                           false,
		{Verb: "get", URL: "/metrics"}:                                                  true,
		{Verb: "get", Resource: "secrets", Subresource: "status", Namespace: "default"}: false,
	} {
		if got := derived.Allows(r, "ops"); got != want {
			t.Errorf("%s: %t", r, got)
		}
	}
}
