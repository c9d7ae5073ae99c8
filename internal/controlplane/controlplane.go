// Package controlplane runs Kubernetes control planes on this machine: etcd, an API
// server with TLS and RBAC, and optionally kube-controller-manager. They are reachable
// from this machine only.
//
// Each control plane has a name and a supervisor: a process of operon that starts the
// programs, restarts a program that exits, and ends them all (see Keep). The supervisor
// holds a lock while it lives, which tells other processes that it does. Its folder has
// the kubeconfig, certificates, data and logs; only the user can read it, and it is
// removed with the control plane. Commands use Start, Stop and List.
//
// If the supervisor is killed, Linux and Windows end its programs. On other systems they
// keep running as orphans until the next Start or Stop of the name kills them.
package controlplane

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// DefaultName is the name of the control plane if no name is given.
const DefaultName = "default"

// Options describe the control plane to run.
type Options struct {
	// Name is unique among the control planes of a user: a DNS label (RFC 1123).
	Name string `json:"name"`
	// Assets is the absolute path of the folder with the programs.
	Assets string `json:"assets"`
	// Controllers adds kube-controller-manager. Without it nothing creates
	// ServiceAccounts, so the API server accepts pods without one.
	Controllers bool `json:"controllers"`
	// Port of the API server on 127.0.0.1; with 0, the supervisor chooses a free one and
	// reports it in the State.
	Port int `json:"port"`
}

// Home is the folder that holds the control planes of a user.
type Home struct{ dir string }

// Open returns the user's Home: %LocalAppData%\operon\envtest on Windows,
// ~/Library/Application Support/operon/envtest on macOS, and
// ${XDG_STATE_HOME:-~/.local/state}/operon/envtest elsewhere (XDG Base Directory
// Specification 0.8). It does not access the disk.
func Open(getenv func(string) string) (*Home, error) {
	dir, err := homeDir(runtime.GOOS, getenv)
	if err != nil {
		return nil, err
	}
	return &Home{dir}, nil
}

func homeDir(goos string, getenv func(string) string) (string, error) {
	name, below := "HOME", []string{".local", "state"}
	switch goos {
	case "windows":
		name, below = "LocalAppData", nil
	case "darwin":
		below = []string{"Library", "Application Support"}
	default:
		if state := getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
			return filepath.Join(state, "operon", "envtest"), nil
		}
	}
	base := getenv(name)
	if !filepath.IsAbs(base) {
		return "", fault.Failed("set "+name, "no folder for control planes: %s is not an absolute path", name)
	}
	return filepath.Join(append(append([]string{base}, below...), "operon", "envtest")...), nil
}

var nameRE = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// CheckName validates the name of a control plane.
func CheckName(name string) error {
	if nameRE().MatchString(name) {
		return nil
	}
	hint := "use at most 63 lower-case letters, digits and dashes"
	if guess := strings.ToLower(strings.NewReplacer("_", "-", ".", "-", " ", "-").Replace(name)); nameRE().MatchString(guess) {
		hint = "try " + guess
	}
	return fault.Usage(hint,
		"control plane name %q is not a DNS label (RFC 1123)", name)
}
