package command

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operon-dev/operon/internal/scaffold"
)

// TestLockWaits checks the wait for a lock that another command holds.
func TestLockWaits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		held, cancelled time.Duration
		atOnce          bool
		want            error
		noted           bool
	}{
		"free":      {},
		"short":     {held: silentWait / 2},
		"long":      {held: 10 * time.Minute, noted: true},
		"at once":   {held: silentWait / 2, atOnce: true, want: scaffold.ErrBusy},
		"cancelled": {held: time.Minute, cancelled: silentWait / 2, want: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				release := func() {}
				if tt.held > 0 {
					unlock, err := scaffold.Lock(root)
					if err != nil {
						t.Fatal(err)
					}
					release = unlock
					time.AfterFunc(tt.held, unlock)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancelled > 0 {
					time.AfterFunc(tt.cancelled, cancel)
				}
				var stderr bytes.Buffer
				unlock, err := (&App{Err: &stderr}).lock(ctx, root, tt.atOnce)
				if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
					t.Fatalf("error %v, want %v", err, tt.want)
				}
				if got := strings.HasPrefix(stderr.String(), "waiting for another operon command"); got != tt.noted || strings.Count(stderr.String(), "\n") > 1 {
					t.Errorf("stderr: %q", stderr.String())
				}
				if err == nil {
					unlock()
				} else {
					time.Sleep(time.Minute) // let the other command end
					release()
				}
			})
		})
	}
}

// TestOnceNote checks that a note for this run only is not recorded.
func TestOnceNote(t *testing.T) {
	t.Parallel()
	recorded := &recording{}
	to, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	a := &App{Err: recorder{to, recorded, true}}
	a.notefOnce("now")
	a.Notef("always")
	content, err := os.ReadFile(to.Name())
	if err != nil || string(content) != "now\nalways\n" {
		t.Errorf("printed %q (%v)", content, err)
	}
	if len(recorded.texts) != 1 || string(recorded.texts[0].Bytes) != "always\n" {
		t.Errorf("recorded %v", recorded.texts)
	}
}
