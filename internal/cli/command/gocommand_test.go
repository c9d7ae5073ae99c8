package command

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestNoteSlow checks that only a slow step prints a note, and only one.
func TestNoteSlow(t *testing.T) {
	t.Parallel()
	for spent, want := range map[time.Duration]int{time.Second: 0, time.Hour: 1} {
		synctest.Test(t, func(t *testing.T) {
			var stderr bytes.Buffer
			done := (&App{Err: &stderr}).NoteSlow()
			time.Sleep(spent)
			done()
			if got := strings.Count(stderr.String(), "the first time takes minutes\n"); got != want {
				t.Errorf("%s: %d notes, want %d", spent, got, want)
			}
		})
	}
}
