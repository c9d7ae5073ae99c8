package load

import (
	"context"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
)

// levels are the settings that choose the instructions of a processor.
var levels = []string{"GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64", "GOWASM"}

// asked are the settings of the go command that affect a listing.
var asked = append([]string{"GOFLAGS", "GOARCH", "GOROOT", "GOMODCACHE", "GOENV", "GOWORK", "CC", "GO111MODULE", "GOCACHE", "GOTMPDIR",
	"GOOS", "CGO_ENABLED", "GOVERSION", "GOEXPERIMENT", "GOFIPS140"}, levels...)

// System is what the files of a package depend on, besides tags that a project defines.
type System struct {
	OS, Arch string
	Cgo      bool
	Version  string // the release of Go
	// More are experiments of the toolchain and the instructions of the processor.
	More []string
}

func systemOf(is map[string]string) System {
	s := System{OS: is["GOOS"], Arch: is["GOARCH"], Cgo: is["CGO_ENABLED"] == "1", Version: is["GOVERSION"]}
	for _, name := range append([]string{"GOEXPERIMENT", "GOFIPS140"}, levels...) {
		s.More = append(s.More, name+"="+is[name])
	}
	return s
}

// goSettings asks the go command for its settings in the folder of a module. ok is false if it fails.
func goSettings(ctx context.Context, dir string, env []string) (is map[string]string, ok bool) {
	out, err := environ.Command(ctx, dir, env, "go", append([]string{"env"}, asked...)...).Output()
	values := strings.Split(strings.ReplaceAll(string(out), "\r\n", "\n"), "\n")
	if err != nil || len(values) < len(asked) {
		return nil, false
	}
	is = make(map[string]string, len(asked))
	for i, name := range asked {
		is[name] = values[i]
	}
	return is, true
}
