package controlplane

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
)

// Phase is the phase of a control plane.
type Phase string

// The phases. A failed or dead control plane has no supervisor. Its folder has the
// reason, and the next Start or Stop of the name removes it.
const (
	Starting Phase = "starting"
	Running  Phase = "running" // also while a program is restarted
	Failed   Phase = "failed"  // a program exited too often
	Dead     Phase = "dead"    // the supervisor was killed
)

// State describes a control plane.
type State struct {
	Options
	Phase      Phase     `json:"phase"`
	PID        int       `json:"pid"`                  // of the supervisor; control planes that already run have this name
	Since      time.Time `json:"since"`                // when the supervisor started
	URL        string    `json:"url,omitempty"`        // of the API server
	Kubeconfig string    `json:"kubeconfig,omitempty"` // path of the kubeconfig for the administrator
	Version    string    `json:"version,omitempty"`    // such as v1.37.1
	Message    string    `json:"message,omitempty"`    // why it failed or is dead
}

const (
	stateFile      = "state.json"
	kubeconfigFile = "kubeconfig"
	logFile        = "keeper.log" // of the supervisor; control planes that already run have this name
)

// folder returns the folder of a control plane.
func (h *Home) folder(name string) string { return filepath.Join(h.dir, name) }

// lockFile returns the file that a live supervisor keeps locked. It is beside the
// folder, so that the folder can be replaced under the lock.
func (h *Home) lockFile(name string) string { return filepath.Join(h.dir, name+".lock") }

// acquire takes the lock of a name. ok is false if a supervisor holds the lock. acquire
// tries several times, because alive takes the lock for a moment.
func (h *Home) acquire(name string) (unlock func(), ok bool, err error) {
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return nil, false, fault.In("control planes", err)
	}
	path := h.lockFile(name)
	for tries := 1; ; {
		l := flock.New(path, flock.SetPermissions(0o600))
		ok, err := l.TryLock()
		if err != nil {
			return nil, false, fault.In("lock "+path, err)
		}
		if !ok {
			if tries++; tries > 5 {
				return nil, false, nil
			}
			time.Sleep(poll)
			continue
		}
		if sameFile(l, path) {
			return func() {
				// Unix: remove the file under the lock, so that no one else locks a
				// file that disappears. Windows cannot remove an open file.
				if sameFile(l, path) {
					_ = os.Remove(path)
				}
				_ = l.Close()
				if runtime.GOOS == "windows" {
					_ = os.Remove(path)
				}
			}, true, nil
		}
		// The previous holder removed the file before we locked it.
		_ = l.Close()
	}
}

// sameFile reports whether the locked file is still the one at path.
func sameFile(l *flock.Flock, path string) bool {
	mine, err := l.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

// alive reports whether a supervisor holds the lock of a name.
func (h *Home) alive(name string) bool {
	l := flock.New(h.lockFile(name), flock.SetFlag(os.O_RDONLY))
	defer func() { _ = l.Close() }()
	ok, err := l.TryRLock()
	return err == nil && !ok
}

// state returns the state of a control plane, and false if there is none of that name.
func (h *Home) state(name string) (State, bool) {
	// Check the lock first: a supervisor that ends meanwhile then counts as running, as
	// it did, and not as dead.
	alive := h.alive(name)
	s, err := h.read(name)
	switch {
	case alive && err != nil:
		return State{Options: Options{Name: name}, Phase: Starting}, true
	case err != nil:
		_, err := os.Stat(h.folder(name))
		return State{Options: Options{Name: name}, Phase: Dead}, err == nil && !alive
	case !alive && s.Phase != Failed:
		s.Phase, s.Message = Dead, "its supervisor was killed"
	}
	return s, true
}

func (h *Home) read(name string) (State, error) {
	var s State
	data, err := input.ReadFile(filepath.Join(h.folder(name), stateFile), input.Text)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

// write replaces the state file atomically.
func (h *Home) write(s State) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(h.folder(s.Name), stateFile)
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// List returns the control planes of the user, sorted by name.
func (h *Home) List() ([]State, error) {
	entries, err := os.ReadDir(h.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.In("control planes", err)
	}
	var all []State
	seen := map[string]bool{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".lock")
		if seen[name] || CheckName(name) != nil {
			continue
		}
		seen[name] = true
		if s, ok := h.state(name); ok {
			all = append(all, s)
		}
	}
	return all, nil
}
