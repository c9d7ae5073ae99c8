package project

import (
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ src, want, hint string }{
		"empty": {"", "1:1: the file is empty",
			"restore it from version control, or delete it and run operon init"},
		"only comments": {"# none\n", "1:1: the file is empty",
			"restore it from version control, or delete it and run operon init"},
		"file of another program": {"name: x\n", "1:1: the key version is missing",
			"is this the PROJECT file of another program?"},
		"version 2": {"domain: x\nversion: \"2\"\n", `2:10: project version "2" is not supported`,
			"run operon adopt, which completes the file from the code"},
		"version 3-alpha": {"version: 3-alpha\n", `1:10: project version "3-alpha" is not supported`,
			"run operon edit --project-version 3"},
		"syntax": {"version: 3\n  domain: x\n", "2:3: mapping values are not allowed in this context",
			"correct the YAML first"},
		"indentation": {"version: \"3\"\nlayout:\n  - a\n domain: x\nrepo: y\n", "4:2: did not find expected key",
			"correct the YAML first"},
		"unclosed quote": {"version: \"3\"\ndomain: \"x\nrepo: y\n", "2:1: found unexpected end of stream",
			"correct the YAML first"},
		"unclosed list after a multi-line list": {"version: \"3\"\nlayout: [\na,\nb,\nc\n]\ndomain: x\nrepo: [\nz: 1\nname: y\nq: [a]\n", "8:1: did not find expected ',' or ']'",
			"correct the YAML first"},
		"merge conflict": {"version: \"3\"\n<<<<<<< HEAD\ndomain: x\n=======\ndomain: y\n>>>>>>> other\n", "2:1: a merge left a conflict here",
			"decide which lines of the two sides stay"},
		"duplicate key": {"version: \"3\"\ndomain: x\ndomain: y\n", `3:1: mapping key "domain" already defined at line 2`,
			"correct the YAML first"},
		"list": {"- version: \"3\"\n", "1:1: the document is not a mapping of keys to values", "write lines of the form key: value"},
		"domain": {"version: \"3\"\ndomain: [x]\n", "2:9: domain is not a string",
			"write a string"},
		"multigroup": {"version: \"3\"\nmultigroup: maybe\n", "2:13: multigroup is neither true nor false", "write multigroup: true or multigroup: false"},
		"layout": {"version: \"3\"\nlayout: {a: b}\n", "2:9: layout is not a list",
			"write each item on its own line, after a dash"},
		"layout item": {"version: \"3\"\nlayout:\n- a\n- [b]\n", "4:3: an item of layout is not a string",
			"write a string"},
		"resources": {"version: \"3\"\nresources: x\n", "2:12: resources is not a list", "write each item on its own line, after a dash"},
		"resource": {"version: \"3\"\nresources:\n- x\n", "3:3: an item of resources is not a mapping",
			"write lines of the form key: value after the dash"},
		"null resource": {"version: \"3\"\nresources:\n-\n", "3:2: an item of resources is not a mapping",
			"write lines of the form key: value after the dash"},
		"without a kind":    {"version: \"3\"\nresources:\n- version: v1\n", "3:3: the resource has no kind", "add it to the resource, as in kind: Frigate"},
		"without a version": {"version: \"3\"\nresources:\n- kind: K\n", "3:3: the resource has no version", "add it to the resource, as in version: v1"},
		"not UTF-8":         {"version: \"3\"\ndomain: \xff\n", "2:9: not UTF-8 text", "save the file as UTF-8"},
		"api": {"version: \"3\"\nresources:\n- kind: K\n  version: v1\n  api: true\n", "5:8: api is not a mapping",
			"write lines of the form key: value under it"},
		"plugins": {"version: \"3\"\nplugins: []\n", "2:10: plugins is not a mapping",
			"write lines of the form key: value under it"},
		"keys alike": {"version: \"3\"\nplugins: {1: a, 1.0: b}\n", "1:1: duplicate key 1 in a mapping",
			"keep one of the two"},
		"more than a file": {"version: \"3\"\n---\nversion: \"3\"\n", "2:1: a second document starts here",
			"keep one document per file"},
	} {
		_, err := Parse([]byte(tt.src))
		if err == nil || err.Error() != tt.want || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s: error %v (exit code %d), want %q", name, err, fault.Code(err), tt.want)
		}
		if hint := fault.HintOf(err); hint != tt.hint {
			t.Errorf("%s: hint %q, want %q", name, hint, tt.hint)
		}
	}
	if _, err := (&Config{}).Encode([]byte("a: [")); err == nil {
		t.Error("an invalid file was encoded")
	}
}
