package kustomize

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/afero"
)

// TestDeletedListsNameAllKinds checks that deleted kustomizations are restored with all
// entries.
func TestDeletedListsNameAllKinds(t *testing.T) {
	t.Parallel()
	c := config()
	fsys := scaffolded(t, c, frigate, frigateV2)
	for _, name := range []string{crdEntries, sampleEntries, "config/samples/ship_v2_frigate.yaml"} {
		if err := fsys.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := do(t, fsys, c, &destroyer); err != nil {
		t.Fatal(err)
	}
	all := files(t, fsys)
	crds := []string{"bases/ship.example.org_frigates.yaml", "bases/ship.example.org_destroyers.yaml"}
	if diff := cmp.Diff(crds, entries(t, all, crdEntries)); diff != "" {
		t.Errorf("CRDs: %s", diff)
	}
	samples := []string{"ship_v1_frigate.yaml", "ship_v1_destroyer.yaml"}
	if diff := cmp.Diff(samples, entries(t, all, sampleEntries)); diff != "" {
		t.Errorf("samples: %s", diff)
	}
}

// TestLostAnchors checks that creating an API fails if there is no place for its line, and
// that the error contains the line.
func TestLostAnchors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, content string // no content: the file is missing
		msg, hint           string
	}{
		{"default missing", defaultEntries, "", defaultEntries + " is missing", "- ../crd"},
		{"default without the line", defaultEntries, "resources:\n- ../rbac\n", "edit " + defaultEntries, "- ../crd"},
		{"rbac missing", rbacEntries, "", rbacEntries + " is missing", "- frigate_admin_role.yaml"},
		{"rbac not a list", rbacEntries, "resources: none\n", "edit " + rbacEntries, "- frigate_admin_role.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := config()
			fsys := scaffolded(t, c)
			if err := fsys.Remove(test.file); err != nil {
				t.Fatal(err)
			}
			if test.content != "" {
				if err := afero.WriteFile(fsys, test.file, []byte(test.content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			before := files(t, fsys)
			err := do(t, fsys, c, &frigate)
			if err == nil || !strings.Contains(err.Error(), test.msg) || !strings.Contains(fault.HintOf(err), test.hint) {
				t.Errorf("error %v, hint %q", err, fault.HintOf(err))
			}
			if code := fault.Code(err); code != fault.CodeFailed {
				t.Errorf("exit code %d", code)
			}
			if diff := cmp.Diff(before, files(t, fsys)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEntriesInOtherForms checks that entries count as listed in any form of their path:
// kustomize rejects duplicate resources.
func TestEntriesInOtherForms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, from, to, want string }{
		{"trailing slash", defaultEntries, "- ../crd\n", "- ../crd/\n", "- ../crd/\n"},
		{"path from the root", defaultEntries, "- ../crd\n", "- ../../config/crd\n", "- ../../config/crd\n"},
		{"commented out, with spaces", defaultEntries, "- ../crd\n", "#-   ../crd\n", "-   ../crd\n"},
		{"commented out, with a trailing slash", defaultEntries, "- ../crd\n", "# - ../crd/\n", "- ../crd/\n"},
		{"CRD", crdEntries, "- bases/", "- ./bases/", "- ./bases/"},
		{"sample", sampleEntries, "- ship_v1_", "- ./ship_v1_", "- ./ship_v1_"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := config()
			fsys := scaffolded(t, c, frigate)
			before := files(t, fsys)[test.file]
			if !strings.Contains(before, test.from) {
				t.Fatalf("no %q in\n%s", test.from, before)
			}
			users := strings.Replace(before, test.from, test.to, 1)
			if err := afero.WriteFile(fsys, test.file, []byte(users), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := do(t, fsys, c, &frigate); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(before, test.from, test.want, 1)
			if diff := cmp.Diff(want, files(t, fsys)[test.file]); diff != "" {
				t.Error(diff)
			}
		})
	}
}
