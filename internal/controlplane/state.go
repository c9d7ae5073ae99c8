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
)

// Phase is what a control plane is doing.
type Phase string

// The phases. The keeper of a failed or dead one is gone; what it left in its
// folder tells why, and the next Start or Stop removes it.
const (
	Starting Phase = "starting"
	Running  Phase = "running" // also while a program that ended is started again
	Failed   Phase = "failed"  // a program ended too often
	Dead     Phase = "dead"    // the keeper was killed
)

// State describes a control plane.
type State struct {
	Options
	Phase      Phase     `json:"phase"`
	PID        int       `json:"pid"`                  // of the keeper
	Since      time.Time `json:"since"`                // when the keeper began
	URL        string    `json:"url,omitempty"`        // of the API server
	Kubeconfig string    `json:"kubeconfig,omitempty"` // path of the administrator's
	Version    string    `json:"version,omitempty"`    // such as v1.37.1
	Message    string    `json:"message,omitempty"`    // why it failed or is dead
}

const (
	stateFile      = "state.json"
	kubeconfigFile = "kubeconfig"
	logFile        = "keeper.log" // beside those of the programs
)

// folder is where a control plane keeps everything.
func (h *Home) folder(name string) string { return filepath.Join(h.dir, name) }

// lockFile is locked by the living keeper. It stands beside the folder, so that
// the folder can be replaced while it is held.
func (h *Home) lockFile(name string) string { return filepath.Join(h.dir, name+".lock") }

// acquire takes the lock of a name; unlock is nil when a keeper holds it. Those
// who only look hold it too, but no longer than that takes.
func (h *Home) acquire(name string) (unlock func(), err error) {
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return nil, fault.In("control planes", err)
	}
	path := h.lockFile(name)
	for tries := 1; ; {
		l := flock.New(path, flock.SetPermissions(0o600))
		ok, err := l.TryLock()
		if err != nil {
			return nil, fault.In("lock "+path, err)
		}
		if !ok {
			if tries++; tries > 5 {
				return nil, nil
			}
			time.Sleep(poll)
			continue
		}
		if sameFile(l, path) {
			return func() {
				// Unix wants it gone while it is locked, so that nobody locks a
				// file that is about to go; Windows removes no open file.
				if sameFile(l, path) {
					_ = os.Remove(path)
				}
				_ = l.Close()
				if runtime.GOOS == "windows" {
					_ = os.Remove(path)
				}
			}, nil
		}
		// The holder before removed it between our opening and our locking.
		_ = l.Close()
	}
}

// sameFile reports whether the locked file still is the one at path.
func sameFile(l *flock.Flock, path string) bool {
	mine, err := l.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

// alive reports whether a keeper holds the lock of a name.
func (h *Home) alive(name string) bool {
	l := flock.New(h.lockFile(name), flock.SetFlag(os.O_RDONLY))
	defer func() { _ = l.Close() }()
	ok, err := l.TryRLock()
	return err == nil && !ok
}

// look returns the state of a name, and false when there is none.
func (h *Home) look(name string) (State, bool) {
	// The lock first: a keeper that ends meanwhile then shows as one that runs,
	// which it did, and not as a dead one.
	alive := h.alive(name)
	s, err := h.read(name)
	switch {
	case alive && err != nil:
		return State{Options: Options{Name: name}, Phase: Starting}, true
	case err != nil:
		_, err := os.Stat(h.folder(name))
		return State{Options: Options{Name: name}, Phase: Dead}, err == nil && !alive
	case !alive && s.Phase != Failed:
		s.Phase, s.Message = Dead, "its keeper was killed"
	}
	return s, true
}

func (h *Home) read(name string) (State, error) {
	var s State
	data, err := os.ReadFile(filepath.Join(h.folder(name), stateFile))
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

// write replaces the state, so that readers see the old or the new one.
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
		if s, ok := h.look(name); ok {
			all = append(all, s)
		}
	}
	return all, nil
}
