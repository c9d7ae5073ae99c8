package yamledit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
)

func TestAppendYAML(t *testing.T) {
	t.Parallel()
	crd := ListAnchor{Path: []string{"resources"}, Marker: "crdkustomizeresource"}
	for name, tt := range map[string]struct {
		src, item, want string
		anchor          ListAnchor
	}{
		"above the marker": {
			src:    "resources:\n- bases/a.yaml\n# +kubebuilder:scaffold:crdkustomizeresource\n\npatches:\n# none\n",
			item:   "bases/b.yaml",
			want:   "resources:\n- bases/a.yaml\n- bases/b.yaml\n# +kubebuilder:scaffold:crdkustomizeresource\n\npatches:\n# none\n",
			anchor: crd,
		},
		"marker between items": {
			src:    "resources:\n- a\n#+kubebuilder:scaffold:crdkustomizeresource\n- z\n",
			item:   "b",
			want:   "resources:\n- a\n- b\n#+kubebuilder:scaffold:crdkustomizeresource\n- z\n",
			anchor: crd,
		},
		"marker in an empty list": {
			src:    "resources:\n# +kubebuilder:scaffold:crdkustomizeresource\nx: 1\n",
			item:   "b",
			want:   "resources:\n- b\n# +kubebuilder:scaffold:crdkustomizeresource\nx: 1\n",
			anchor: crd,
		},
		"deeper marker in an empty list": {
			src:    "resources:\n  # +kubebuilder:scaffold:crdkustomizeresource\nx: 1\n",
			item:   "b",
			want:   "resources:\n  - b\n  # +kubebuilder:scaffold:crdkustomizeresource\nx: 1\n",
			anchor: crd,
		},
		"brackets are replaced": {
			src:    "resources: [] # none yet\n# +kubebuilder:scaffold:crdkustomizeresource\n",
			item:   "b",
			want:   "resources: # none yet\n- b\n# +kubebuilder:scaffold:crdkustomizeresource\n",
			anchor: crd,
		},
		"null": {
			src:    "resources: null\nx: 1\n",
			item:   "b",
			want:   "resources:\n- b\nx: 1\n",
			anchor: crd,
		},
		"key with nothing at the end": {
			src:    "x: 1\nresources:",
			item:   "b",
			want:   "x: 1\nresources:\n- b",
			anchor: crd,
		},
		"without a marker": {
			src:    "resources:\n  # first\n  - a\n\n  - b # last\n    # deeper\n\n# about x\nx: 1\n",
			item:   "c",
			want:   "resources:\n  # first\n  - a\n\n  - b # last\n    # deeper\n  - c\n\n# about x\nx: 1\n",
			anchor: crd,
		},
		"the marker of another list": {
			src:    "resources:\n- a\nother:\n- x\n# +kubebuilder:scaffold:crdkustomizeresource\n",
			item:   "b",
			want:   "resources:\n- a\n- b\nother:\n- x\n# +kubebuilder:scaffold:crdkustomizeresource\n",
			anchor: crd,
		},
		"already listed, with other quotes": {
			src:    "resources:\n- 'b'\n",
			item:   "b",
			want:   "resources:\n- 'b'\n",
			anchor: crd,
		},
		"already listed, in brackets": {
			src:    "resources: [a, \"b\"]\n",
			item:   "b",
			want:   "resources: [a, \"b\"]\n",
			anchor: crd,
		},
		"into brackets": {
			src:    "resources: [a, # why\n  \"b]\",\n]\nx: 1\n",
			item:   "c: d, e",
			want:   "resources: [a, # why\n  \"b]\", {c: 'd, e'},\n]\nx: 1\n",
			anchor: crd,
		},
		"missing key": {
			src:    "x: 1\n# end\n",
			item:   "a",
			want:   "x: 1\n# end\nresources:\n- a\n",
			anchor: crd,
		},
		"missing key, with a marker": {
			src:    "resources:\n- a\n# +kubebuilder:scaffold:crdkustomizeresource\n\n#patches:\n# +kubebuilder:scaffold:p\n\nconfigurations:\n- k\n",
			item:   "path: patches/x.yaml\ntarget:\n  kind: X # kept",
			want:   "resources:\n- a\n# +kubebuilder:scaffold:crdkustomizeresource\n\n#patches:\npatches:\n- path: patches/x.yaml\n  target:\n    kind: X # kept\n# +kubebuilder:scaffold:p\n\nconfigurations:\n- k\n",
			anchor: ListAnchor{Path: []string{"patches"}, Marker: "p"},
		},
		"missing nested keys": {
			src:    "a:\n  b: 1\n# of c\nc: 2\n",
			item:   "i",
			want:   "a:\n  b: 1\n  l:\n    m:\n    - i\n# of c\nc: 2\n",
			anchor: ListAnchor{Path: []string{"a", "l", "m"}},
		},
		"missing keys in braces": {
			src:    "a: {b: 1}\n",
			item:   "i",
			want:   "a: {b: 1, l: {m: [i]}}\n",
			anchor: ListAnchor{Path: []string{"a", "l", "m"}},
		},
		"file of comments": {
			src:    "# +kubebuilder:scaffold:crdkustomizeresource\n# end",
			item:   "a",
			want:   "resources:\n- a\n# +kubebuilder:scaffold:crdkustomizeresource\n# end",
			anchor: crd,
		},
		"empty file": {item: "a", want: "resources:\n- a\n", anchor: crd},
		"document markers": {
			src:    "---\nresources:\n- a\n...\n",
			item:   "b",
			want:   "---\nresources:\n- a\n- b\n...\n",
			anchor: crd,
		},
		"no final newline": {src: "resources:\n- a", item: "b", want: "resources:\n- a\n- b", anchor: crd},
		"list of maps": {
			src:    "patches:\n- path: a\n  target: {kind: A}\n\n- path: b\n",
			item:   "path: a\ntarget:\n  kind: B",
			want:   "patches:\n- path: a\n  target: {kind: A}\n\n- path: b\n- path: a\n  target:\n    kind: B\n",
			anchor: ListAnchor{Path: []string{"patches"}},
		},
		"literal text as the last item": {
			src:    "l:\n- |\n  # +kubebuilder:scaffold:m\n  text\n\n# +kubebuilder:scaffold:m\n",
			item:   "x",
			want:   "l:\n- |\n  # +kubebuilder:scaffold:m\n  text\n\n- x\n# +kubebuilder:scaffold:m\n",
			anchor: ListAnchor{Path: []string{"l"}, Marker: "m"},
		},
		"first": {
			src:    "l:\n# of a\n - a\n# +kubebuilder:scaffold:m\n",
			item:   "x: 1\ny: 2",
			want:   "l:\n# of a\n - x: 1\n   y: 2\n - a\n# +kubebuilder:scaffold:m\n",
			anchor: ListAnchor{Path: []string{"l"}, First: true},
		},
		"first in brackets": {
			src:    "l: [a, b]\n",
			item:   "x",
			want:   "l: [x, a, b]\n",
			anchor: ListAnchor{Path: []string{"l"}, First: true},
		},
		"first, in the column of a commented item": {
			src:    "l:\n# text\n# - a: 1\n#   b: 2\nm: 1\n",
			item:   "x",
			want:   "l:\n - x\n# text\n# - a: 1\n#   b: 2\nm: 1\n",
			anchor: ListAnchor{Path: []string{"l"}, First: true},
		},
		"first and only": {
			src:    "l:\nm:\n#   - a\n",
			item:   "x",
			want:   "l:\n- x\nm:\n#   - a\n",
			anchor: ListAnchor{Path: []string{"l"}, First: true},
		},
		"the file's own indentation": {
			src:    "a:\n    b:\n        - 1\n",
			item:   "x",
			want:   "a:\n    b:\n        - 1\n    c:\n        - x\n",
			anchor: ListAnchor{Path: []string{"a", "c"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for eol, convert := range map[string]func(string) string{
				"LF":    func(s string) string { return s },
				"CR LF": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
			} {
				if eol == "CR LF" && !strings.Contains(tt.src, "\n") {
					continue
				}
				got, err := Append([]byte(convert(tt.src)), tt.item, tt.anchor)
				if err != nil {
					t.Fatalf("%s: %v", eol, err)
				}
				if diff := cmp.Diff(convert(tt.want), string(got)); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", eol, diff)
				}
				again, err := Append(got, tt.item, tt.anchor)
				if err != nil || string(again) != string(got) {
					t.Errorf("%s: repeating returns %v\n%s", eol, err, again)
				}
			}
		})
	}
}

func TestAppendYAMLErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		src, want string
	}{
		"not a list":      {"a: 1\nresources: x\n", "2:12: a list is expected here"},
		"a mapping":       {"resources:\n  a: 1\n", "2:3: a list is expected here"},
		"an alias":        {"a: &x [b]\nresources: *x\n", "2:12: a list is expected here"},
		"syntax":          {"a: 1\n b: 2\n", "2:2: mapping values are not allowed in this context"},
		"list document":   {"- a\n", "1:1: the document is not a mapping of keys to values"},
		"two documents":   {"a: 1\n---\nb: 1\n", "2:1: a second document starts here"},
		"not UTF-8":       {"a: \xff\n", "1:4: not UTF-8 text"},
		"unknown anchor":  {"a: *x\n", "1:1: unknown anchor 'x' referenced"},
		"duplicated keys": {"a: 1\na: 2\n", `2:1: mapping key "a" already defined at line 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Append([]byte(tt.src), "i", ListAnchor{Path: []string{"resources"}})
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %q, want %q", err, tt.want)
			}
		})
	}
	if _, err := Append(nil, "a: [", ListAnchor{Path: []string{"r"}}); err == nil {
		t.Error("an item that is not YAML is accepted")
	}
}

func TestUncommentYAML(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ src, line, want string }{
		"plain":              {"r:\n- a\n#- ../crd\n- b\n", "- ../crd", "r:\n- a\n- ../crd\n- b\n"},
		"space after #":      {"r:\n- a\n# - ../crd\n", "- ../crd", "r:\n- a\n- ../crd\n"},
		"indented list":      {"r:\n  - a\n#- ../crd\n  - b\n", "- ../crd", "r:\n  - a\n  - ../crd\n  - b\n"},
		"first, indented":    {"r:\n#- ../crd\n  - b\n", "- ../crd", "r:\n  - ../crd\n  - b\n"},
		"only item":          {"r:\n#- ../crd\n", "- ../crd", "r:\n- ../crd\n"},
		"kept comment":       {"r:\n#- ../crd # why\n", "- ../crd", "r:\n- ../crd # why\n"},
		"active":             {"r:\n- ../crd # yes\n#- ../crd\n", "- ../crd", "r:\n- ../crd # yes\n#- ../crd\n"},
		"active in brackets": {"r: [\"../crd\"]\n", "- ../crd", "r: [\"../crd\"]\n"},
		"longer name":        {"r:\n#- ../crds\n#- ../crd\n", "- ../crd", "r:\n#- ../crds\n- ../crd\n"},
		"CR LF":              {"r:\r\n- a\r\n#- ../crd\r\n", "- ../crd", "r:\r\n- a\r\n- ../crd\r\n"},
		"no final newline":   {"r:\n#- ../crd", "- ../crd", "r:\n- ../crd"},
		"several lines": {
			"p:\n# [WEBHOOK] first\n#- path: x\n#  target:\n#    kind: D\n# end\n", "- path: x\n  target:\n    kind: D",
			"p:\n# [WEBHOOK] first\n- path: x\n  target:\n    kind: D\n# end\n",
		},
		"inside text": {"t: |\n  #- ../crd\nr:\n#- ../crd\n", "- ../crd", "t: |\n  #- ../crd\nr:\n- ../crd\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Uncomment([]byte(tt.src), tt.line, "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if again, err := Uncomment(got, tt.line, ""); err != nil || string(again) != string(got) {
				t.Errorf("repeating returns %v\n%s", err, again)
			}
		})
	}
	_, err := Uncomment([]byte("r:\n- a\n"), "- ../crd", "")
	if want := `neither "- ../crd" nor a comment with it is in the file`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	if want := "add by hand, to the list where it belongs:\n- ../crd"; fault.HintOf(err) != want {
		t.Errorf("hint %q, want %q", fault.HintOf(err), want)
	}
	if _, err := Uncomment([]byte("r:\n#- a\n"), "a: b", ""); err == nil {
		t.Error("a line that is not a list item is accepted")
	}
}

func TestCommentYAML(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ src, want string }{
		"plain":         {"r:\n- a\n- ../crd\n- b\n", "r:\n- a\n#- ../crd\n- b\n"},
		"indented":      {"r:\n  - a\n  - ../crd\n", "r:\n  - a\n  #- ../crd\n"},
		"kept comment":  {"r:\n- ../crd # why\n", "r:\n#- ../crd # why\n"},
		"quoted, CR LF": {"r:\r\n- \"../crd\"\r\n- a\r\n", "r:\r\n#- \"../crd\"\r\n- a\r\n"},
		"not active":    {"r:\n#- ../crd\n- a\n", "r:\n#- ../crd\n- a\n"},
		"inside text":   {"t: |\n  - ../crd\nr:\n- ../crd\n", "t: |\n  - ../crd\nr:\n#- ../crd\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Comment([]byte(tt.src), "- ../crd", "")
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\n%s", err, got)
			}
			back, err := Uncomment(got, "- ../crd", "")
			if name != "not active" && (err != nil || string(back) != tt.src) {
				t.Errorf("back: %v\n%s", err, back)
			}
		})
	}
	if _, err := Comment([]byte("r: [a, ../crd]\n"), "- ../crd", ""); err == nil {
		t.Error("an item in brackets was commented out")
	}
}

func TestUncommentYAMLKey(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ src, want string }{
		"with its list":      {"a: 1\n#r:\n# - b\n", "a: 1\nr:\n# - b\n"},
		"space behind":       {"# r: # why\n", "r: # why\n"},
		"in brackets":        {"# text\n#r: [{a: b}] # c\n", "# text\nr: [{a: b}] # c\n"},
		"no list":            {"#r: [see below]: x\na: 1\n", ""},
		"existing key":       {"r: 1\n#r:\n", ""},
		"existing key below": {"#r:\nr:\n", ""},
		"a sentence":         {"# r: what it is\na: 1\n", ""},
		"another key":        {"#rs:\n#r-s:\na: 1\n", ""},
		"inside text":        {"t: |\n  a\n#r:\n", "t: |\n  a\nr:\n"},
		"deeper":             {"t:\n  #r:\n  a: 1\n", ""},
		"in a list":          {"t:\n- a\n#r:\n- b\n#r:\n", "t:\n- a\n#r:\n- b\nr:\n"},
		"CR LF":              {"a: 1\r\n#r:\r\n", "a: 1\r\nr:\r\n"},
		"empty file":         {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.want == "" {
				tt.want = tt.src
			}
			got, err := UncommentKey([]byte(tt.src), "r")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if _, err := UncommentKey([]byte("a: [\n"), "r"); err == nil {
		t.Error("invalid YAML is accepted")
	}
}
