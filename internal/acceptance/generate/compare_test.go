//go:build unix

package generate

import "testing"

// TestCompare compares runs of operon that differ from those of controller-gen, or from those
// without a cache.
func TestCompare(t *testing.T) {
	t.Parallel()
	before := map[string]string{"project/a.go": "package a\n"}
	wrote := map[string]string{"project/a.go": "package a\n", "project/crd.yaml": "kind: A\n"}
	fails := func(files map[string]string, message string) outcome {
		return outcome{code: 1, stderr: "error: a.go:1:1: " + message + "\n", files: files}
	}
	const peerBroken = "a.go:1:1: broken\n"
	works := outcome{files: wrote}
	sums := map[string]string{"project/a.go": "package a\n", "project/go.work.sum": "a v1 h1:=\n"}
	peerSums := outcome{code: 1, stderr: peerBroken, files: map[string]string{"project/go.work.sum": sums["project/go.work.sum"]}}
	peerFails := outcome{code: 1, stderr: peerBroken}
	peerWorks := outcome{files: map[string]string{"project/crd.yaml": "kind: A\n"}}
	for name, tt := range map[string]struct {
		want, plain, got, aged outcome
		differ                 bool
	}{
		"all fail":                          {peerFails, fails(before, "broken"), fails(before, "broken"), fails(before, "broken"), false},
		"all fail, operon by its age":       {peerFails, fails(before, "absent"), fails(before, "absent"), fails(before, "broken"), false},
		"all fail, operon at any age":       {peerFails, fails(before, "absent"), fails(before, "absent"), fails(before, "absent"), true},
		"all fail, one by its age":          {peerFails, fails(before, "absent"), fails(before, "broken"), fails(before, "broken"), false},
		"all fail, the cached one alone":    {peerFails, fails(before, "broken"), fails(before, "absent"), fails(before, "broken"), true},
		"operon works where the peer fails": {peerFails, works, works, works, true},
		"operon crashes":                    {peerFails, outcome{code: -1, files: before}, outcome{code: -1, files: before}, outcome{code: -1, files: before}, true},
		"operon fails and writes":           {peerFails, fails(wrote, "broken"), fails(wrote, "broken"), fails(wrote, "broken"), true},
		"all fail, and the go command adds": {peerSums, fails(sums, "broken"), fails(sums, "broken"), fails(sums, "broken"), false},
		"the go command adds for operon":    {peerFails, fails(sums, "broken"), fails(sums, "broken"), fails(sums, "broken"), true},
		"all work":                          {peerWorks, works, works, works, false},
		"operon fails where the peer works": {peerWorks, fails(before, "broken"), fails(before, "broken"), works, true},
		"the cached one fails alone":        {peerWorks, works, fails(before, "broken"), fails(before, "broken"), true},
		"the cached one says more":          {peerWorks, works, outcome{stdout: "nothing\n", files: wrote}, works, true},
		"operon makes something else":       {peerWorks, outcome{files: before}, outcome{files: before}, works, true},
	} {
		e := &editedProject{T: t}
		if diff := e.compare(tt.want, tt.plain, before, tt.got, func() outcome { return tt.aged }); (diff != "") != tt.differ {
			t.Errorf("%s: %q", name, diff)
		}
		if e.broken != (tt.want.code != 0) {
			t.Errorf("%s: broken is %t", name, e.broken)
		}
	}
}
