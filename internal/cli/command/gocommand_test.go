package command

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNoteSlow checks that only a slow step prints a note, and then one each minute.
func TestNoteSlow(t *testing.T) {
	t.Parallel()
	const first = "compiling the project and its dependencies; the first time takes minutes\n"
	for spent, want := range map[time.Duration]string{
		time.Second:     "",
		time.Minute:     first,
		3 * time.Minute: first + "still compiling after 1 min\nstill compiling after 2 min\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			var stderr bytes.Buffer
			done := (&App{Err: &stderr}).NoteSlow()
			time.Sleep(spent)
			done()
			if diff := cmp.Diff(want, stderr.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", spent, diff)
			}
		})
	}
}
