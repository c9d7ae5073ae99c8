package yamledit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// In a list of paths, two paths to the same place are the same item.
func TestYAMLPaths(t *testing.T) {
	t.Parallel()
	const dir = "config/default"
	add := func(src string) ([]byte, error) {
		return Append([]byte(src), "../crd", ListAnchor{Path: []string{"resources"}, Dir: dir})
	}
	activate := func(src string) ([]byte, error) { return Uncomment([]byte(src), "- ../crd", dir) }
	for name, tt := range map[string]struct {
		src  string
		edit func(string) ([]byte, error)
		want string // "": unchanged
	}{
		"listed with a slash":       {"resources:\n- ../crd/\n", add, ""},
		"listed from the root":      {"resources: [\"../../config/crd\"]\n", add, ""},
		"listed with a dot":         {"resources:\n- ./../crd\n", add, ""},
		"an absolute path":          {"resources:\n- /../crd\n", add, "resources:\n- /../crd\n- ../crd\n"},
		"an address":                {"resources:\n- https://../crd\n", add, "resources:\n- https://../crd\n- ../crd\n"},
		"no text":                   {"resources:\n- 7\n- a: ../crd\n", add, "resources:\n- 7\n- a: ../crd\n- ../crd\n"},
		"active with a slash":       {"resources:\n- ../crd/\n#- ../crd\n", activate, ""},
		"active from the root":      {"resources:\n- ../../config/crd\n", activate, ""},
		"comment with a slash":      {"resources:\n#- ../crd/\n", activate, "resources:\n- ../crd/\n"},
		"comment from the root":     {"resources:\n#- ../../config/crd # it\n", activate, "resources:\n- ../../config/crd # it\n"},
		"comment with more space":   {"resources:\n- a\n#-   ../crd  \n", activate, "resources:\n- a\n-   ../crd  \n"},
		"comment with a tab":        {"resources:\n- a\n#\t- ../crd\n", activate, "resources:\n- a\n- ../crd\n"},
		"comment with two, deeper":  {"resources:\n- a\n  ##  - ../crd\n#  -  ../crd\n", activate, "resources:\n- a\n  ##  - ../crd\n-  ../crd\n"},
		"comment in quotes":         {"resources:\n#- '../crd'\n", activate, "resources:\n- '../crd'\n"},
		"comment of another":        {"resources:\n#- ../crds\n#- ../crd\n", activate, "resources:\n#- ../crds\n- ../crd\n"},
		"comment that is no YAML":   {"resources:\n#- ../crd: [\n#- ../crd\n", activate, "resources:\n#- ../crd: [\n- ../crd\n"},
		"comment with two on a row": {"resources:\n#- - ../crd\n#- ../crd\n", activate, "resources:\n#- - ../crd\n- ../crd\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.want == "" {
				tt.want = tt.src
			}
			got, err := tt.edit(tt.src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if again, err := tt.edit(string(got)); err != nil || string(again) != string(got) {
				t.Errorf("repeating returns %v\n%s", err, again)
			}
		})
	}
	// Without a folder, items are compared as values.
	got, err := Append([]byte("a:\n- ./x\n"), "x", ListAnchor{Path: []string{"a"}})
	if want := "a:\n- ./x\n- x\n"; string(got) != want || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
}

// Inserted lines have the most frequent line ending of the file.
func TestYAMLLineEnd(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"a: 1\nr:\r\n- x\r\n- y\r\n": "a: 1\nr:\r\n- x\r\n- y\r\n- z\r\n",
		"a: 1\r\nr:\n- x\n- y\n":     "a: 1\r\nr:\n- x\n- y\n- z\n",
	} {
		got, err := Append([]byte(src), "z", ListAnchor{Path: []string{"r"}})
		if err != nil || string(got) != want {
			t.Errorf("%v\n got %q\nwant %q", err, got, want)
		}
	}
}
