package load

import "testing"

func TestRewritesGoMod(t *testing.T) {
	t.Parallel()
	for goFlags, want := range map[string]bool{
		"":                                false,
		"\n":                              false,
		"-mod=mod\n":                      true,
		"-v --mod=mod -tags=x":            true,
		`-tags=x '-mod=mod'`:              true,
		"-mod=vendor":                     false,
		"-mod=readonly":                   false,
		"-modfile=go.tools.mod -tags=mod": false,
	} {
		if got := rewritesGoMod(goFlags); got != want {
			t.Errorf("%q: %v", goFlags, got)
		}
	}
}
