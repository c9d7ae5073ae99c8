// Package controlplane runs Kubernetes control planes on this machine: etcd, an
// API server with TLS and RBAC, and kube-controller-manager where it is asked
// for, reachable from this machine only.
//
// Each has a name and a keeper. The keeper is a process of operon that starts
// the programs, starts one again that ended, and ends them all: see Keep. It
// holds a lock while it lives, which is how everybody else knows that it does,
// and has a folder with the kubeconfig, certificates, data and logs, which only
// the user can read and which goes with it. Start, Stop and List are what the
// commands of a user do from outside.
//
// What runs when the keeper is killed: on Linux and Windows nothing, for the
// system ends the programs too. Elsewhere they live on until the next Start or
// Stop of that name ends them.
package controlplane

import (
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// DefaultName is the control plane that is meant when none is named.
const DefaultName = "default"

// Options says what control plane to run.
type Options struct {
	// Name tells control planes of one user apart: a DNS label (RFC 1123).
	Name string `json:"name"`
	// Assets is the folder with the programs, absolute.
	Assets string `json:"assets"`
	// Controllers adds kube-controller-manager. Without it nothing makes
	// ServiceAccounts, so pods are accepted that have none.
	Controllers bool `json:"controllers"`
	// Port of the API server on 127.0.0.1; 0 lets the keeper choose a free one,
	// which a State then has.
	Port int `json:"port"`
}

// Home is the folder that holds the control planes of a user.
type Home struct{ dir string }

// Open returns the user's Home: %LocalAppData%\operon\envtest on Windows,
// ~/Library/Application Support/operon/envtest on macOS, and
// ${XDG_STATE_HOME:-~/.local/state}/operon/envtest elsewhere (XDG Base Directory
// Specification 0.8). It touches no disk.
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
		return "", fault.Failed("set "+name, "control planes have no place: %s is not the path of a folder", name)
	}
	return filepath.Join(append(append([]string{base}, below...), "operon", "envtest")...), nil
}

var nameRE = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// CheckName reports whether name can be that of a control plane.
func CheckName(name string) error {
	if nameRE.MatchString(name) {
		return nil
	}
	hint := "use at most 63 lower-case letters, digits and dashes"
	if guess := strings.ToLower(strings.NewReplacer("_", "-", ".", "-", " ", "-").Replace(name)); nameRE.MatchString(guess) {
		hint = "try " + guess
	}
	return fault.Usage(hint,
		"control plane name %q is not a DNS label (RFC 1123)", name)
}
