package command

import (
	"testing"
)

func TestProgressStep(t *testing.T) {
	t.Parallel()
	for s, want := range map[step]string{
		{"listing packages", 0, 0}: "listing packages", {"reading packages", 12, 0}: "reading packages 12", {"generating crd", 0, 600}: "generating crd 0/600",
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
