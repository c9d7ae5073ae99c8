package testcluster

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/input"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// journal is in the folder of a control plane that continues to run after the tests. It
// lets one run of tests at a time use the control plane. From the journal of a killed run,
// the next run knows which objects that run left.
type journal struct {
	path string // of the file with the objects that existed before the tests
	lock *flock.Flock

	end    context.CancelFunc
	living sync.WaitGroup
}

const (
	heartbeat = 500 * time.Millisecond // between two updates of the journal's time
	accuracy  = time.Second            // of the time at which a run was killed
)

// openJournal waits until no other run uses the journal in a folder. busy is called before
// it waits.
func openJournal(ctx context.Context, folder string, busy func()) (*journal, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fault.In("lock the control plane", err)
	}
	lock := flock.New(filepath.Join(folder, "hook-tests.lock"), flock.SetPermissions(0o600))
	j := &journal{path: filepath.Join(folder, "hook-tests.json"), lock: lock}
	locked, err := j.lock.TryLock()
	if err == nil && !locked {
		busy()
		_, err = j.lock.TryLockContext(ctx, 200*time.Millisecond)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return j, fault.In("lock the control plane", err)
}

// left returns a function that reports whether a killed run left an object: the object did
// not exist before that run, and was created while it ran. killed is false if there was none.
func (j *journal) left() (left func(*unstructured.Unstructured) bool, killed bool, err error) {
	info, err := os.Stat(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	text, err := input.ReadFile(j.path, input.Data)
	if err != nil {
		return nil, false, err
	}
	var before []string
	if json.Unmarshal(text, &before) != nil { // the run was killed before it created objects
		return nil, false, nil
	}
	existed := map[string]bool{}
	for _, id := range before {
		existed[id] = true
	}
	end := info.ModTime().Add(accuracy)
	return func(o *unstructured.Unstructured) bool {
		created := o.GetCreationTimestamp()
		return !existed[identity(o)] && !created.After(end)
	}, true, nil
}

// begin records the objects that exist before the tests.
func (j *journal) begin(existing map[string]*unstructured.Unstructured) error {
	before := []string{}
	for id := range existing {
		before = append(before, id)
	}
	text, err := json.Marshal(before)
	if err == nil {
		err = os.WriteFile(j.path, text, 0o600)
	}
	ctx, end := context.WithCancel(context.Background())
	j.end = end
	j.living.Go(func() {
		for kubeapi.Sleep(ctx, heartbeat) == nil {
			_ = os.Chtimes(j.path, time.Time{}, time.Now())
		}
	})
	return err
}

// finish records that the control plane has the same objects as before the tests.
func (j *journal) finish() error {
	j.stop()
	return os.Remove(j.path)
}

// close lets another run use the control plane.
func (j *journal) close() {
	j.stop()
	_ = j.lock.Close()
}

func (j *journal) stop() {
	if j.end != nil {
		j.end()
		j.living.Wait()
	}
}
