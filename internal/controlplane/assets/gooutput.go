package assets

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/fault"
)

// tailLines is how much of go's output is shown after a failure.
const tailLines = 12

// lineBytes is how much of one line is kept: a linker prints its whole command.
const lineBytes = 400

// goOutput reads go's stderr line by line. It counts what is progress (modules
// fetched, packages compiled: `go build -v` prints one import path per line)
// and keeps the last lines of the rest, which are the errors.
type goOutput struct {
	mu       sync.Mutex
	partial  []byte
	fetched  int
	compiled int
	tail     []string
}

var importPathRE = regexp.MustCompile(`^[A-Za-z0-9._~/-]+$`)

// Write implements io.Writer.
func (o *goOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.partial = append(o.partial, p...)
	for {
		line, rest, found := bytes.Cut(o.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		o.partial = rest
		o.line(strings.TrimRight(string(line), "\r"))
	}
}

func (o *goOutput) line(line string) {
	switch {
	case strings.TrimSpace(line) == "":
	case strings.HasPrefix(line, "go: downloading "):
		o.fetched++
	case importPathRE.MatchString(line):
		o.compiled++
	default:
		if len(line) > lineBytes {
			line = strings.ToValidUTF8(line[:lineBytes], "") + "..."
		}
		if slices.Contains(o.tail, line) {
			return // go repeats itself per package
		}
		o.tail = append(o.tail, line)
		if len(o.tail) > tailLines {
			o.tail = o.tail[1:]
		}
	}
}

// counts says in words what was done so far; "" when all came from go's caches.
func (o *goOutput) counts() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var done []string
	if o.fetched > 0 {
		done = append(done, fmt.Sprintf("%d modules fetched", o.fetched))
	}
	if o.compiled > 0 {
		done = append(done, fmt.Sprintf("%d packages compiled", o.compiled))
	}
	return strings.Join(done, ", ")
}

// lines returns the last lines that do not report progress.
func (o *goOutput) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if rest := strings.TrimSpace(string(o.partial)); rest != "" {
		return append(o.tail[:len(o.tail):len(o.tail)], rest)
	}
	return o.tail
}

// diskFull lists the error texts of the operating systems for a full disk.
var diskFull = regexp.MustCompile(`(?i)no space left on device|not enough space on the disk|disk quota exceeded`)

// DiskFull reports whether an error's text indicates a full disk.
func DiskFull(text string) bool { return diskFull.MatchString(text) }

// knownFailures gives the advice for what go says, first match first. The texts
// are those of go and of the operating systems.
var knownFailures = []struct {
	text *regexp.Regexp
	hint string
}{
	{diskFull,
		"a build needs about 5 GB: go's build cache (go env GOCACHE), its module cache (go env GOMODCACHE) and the envtest store; what was compiled is kept, so run the command again after making room"},
	{regexp.MustCompile(`requires go >= |invalid go version|unknown directive: tool|toolchain not available|package \S+ is not in std`),
		"a newer Go is needed: install it from https://go.dev/dl, or let go fetch it with GOTOOLCHAIN=auto"},
	{regexp.MustCompile(`disabled by GOPROXY=off|(?i)dial tcp|no such host|connection refused|connection reset|i/o timeout|network is unreachable|TLS handshake|proxyconnect|x509: |(40[137]|50[0-4]) [A-Z][a-z]+`),
		"the modules of Kubernetes are fetched through a Go module proxy: set GOPROXY to one that this machine reaches, or point " + Var + " at a folder with the programs"},
	{regexp.MustCompile(`signal: killed|cannot allocate memory|out of memory`),
		"the build ran out of memory: compile fewer packages at a time with GOFLAGS=-p=1"},
}

// explain makes a failure of go readable: its last lines, and advice where
// the cause is known.
func (o *goOutput) explain(what string, err error) error {
	lines := o.lines()
	if len(lines) == 0 {
		return fault.Failed("", "%s: %v", what, err)
	}
	text := strings.Join(lines, "\n")
	hint := ""
	for _, k := range knownFailures {
		if k.text.MatchString(text) {
			hint = k.hint
			break
		}
	}
	if len(lines) > 1 {
		return fault.Failed(hint, "%s: %v:\n  %s", what, err, strings.Join(lines, "\n  "))
	}
	return fault.Failed(hint, "%s: %v: %s", what, err, text)
}
