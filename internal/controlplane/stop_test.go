package controlplane

import (
	"os"
	"testing"
	"time"
)

// TestRemoveLeftovers expects that the files of a dead supervisor are removed although a copy of it
// holds the lock a while longer, and that the files of another supervisor are kept.
func TestRemoveLeftovers(t *testing.T) {
	t.Parallel()
	const dead, other = 123, 456
	for name, tt := range map[string]struct {
		pid  int
		held time.Duration // 0: as long as the test
		kept bool
	}{
		"copy":  {dead, 20 * poll, false},
		"other": {other, 0, true},
		"stuck": {dead, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := &Home{t.TempDir()}
			must(t, os.Mkdir(home.folder(DefaultName), 0o700))
			must(t, home.write(State{Options: Options{Name: DefaultName}, Phase: Running, PID: tt.pid}))
			unlock, ok, err := home.acquire(DefaultName)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if tt.held == 0 {
				defer unlock()
			} else {
				time.AfterFunc(tt.held, unlock)
			}
			err = home.removeLeftovers(DefaultName, dead)
			if stuck := tt.held == 0 && tt.pid == dead; (err != nil) != stuck {
				t.Error(err)
			}
			if _, there := home.state(DefaultName); there != tt.kept {
				t.Errorf("kept: %v", there)
			}
		})
	}
}
