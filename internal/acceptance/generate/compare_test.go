//go:build unix

package generate

import "testing"

// TestCompare compares runs of operon that differ from controller-gen's, or from those
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
		"all fail": {peerFails, fails(before, "broken"), fails(before, "broken"), fails(before, "broken"), false},
		"all fail, until files are old with another message":               {peerFails, fails(before, "absent"), fails(before, "absent"), fails(before, "broken"), false},
		"all fail, with another message at any age":                        {peerFails, fails(before, "absent"), fails(before, "absent"), fails(before, "absent"), true},
		"all fail, until files are old without cache with another message": {peerFails, fails(before, "absent"), fails(before, "broken"), fails(before, "broken"), false},
		"all fail, with another message with the cache":                    {peerFails, fails(before, "broken"), fails(before, "absent"), fails(before, "broken"), true},
		"controller-gen fails, operon succeeds":                            {peerFails, works, works, works, true},
		"operon crashes":                                                   {peerFails, outcome{code: -1, files: before}, outcome{code: -1, files: before}, outcome{code: -1, files: before}, true},
		"operon fails and writes":                                          {peerFails, fails(wrote, "broken"), fails(wrote, "broken"), fails(wrote, "broken"), true},
		"all fail, the go command adds checksums":                          {peerSums, fails(sums, "broken"), fails(sums, "broken"), fails(sums, "broken"), false},
		"all fail, checksums are added for operon only":                    {peerFails, fails(sums, "broken"), fails(sums, "broken"), fails(sums, "broken"), true},
		"all succeed":                           {peerWorks, works, works, works, false},
		"controller-gen succeeds, operon fails": {peerWorks, fails(before, "broken"), fails(before, "broken"), works, true},
		"only the run with the cache fails":     {peerWorks, works, fails(before, "broken"), fails(before, "broken"), true},
		"the run with the cache prints more":    {peerWorks, works, outcome{stdout: "nothing\n", files: wrote}, works, true},
		"operon generates other files":          {peerWorks, outcome{files: before}, outcome{files: before}, works, true},
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
