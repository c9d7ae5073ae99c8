package gobuild

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// tailLines is the number of lines of go's output that an error shows.
const tailLines = 12

// lineBytes is the length to which a line is cut. A linker prints its whole command.
const lineBytes = 400

// output reads the stderr of `go build -v` line by line. It counts the lines that
// report progress (a downloaded module, or the import path of a compiled package), and
// keeps the last of the other lines, which are the errors.
type output struct {
	mu       sync.Mutex
	partial  []byte
	fetched  int
	compiled int
	tail     []string
	instead  string // of the build
}

func (b Build) newOutput() *output { return &output{instead: b.Instead} }

var importPathRE = lazyregexp.New(`^[A-Za-z0-9._~/-]+$`)

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
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

func (o *output) line(line string) {
	switch {
	case strings.TrimSpace(line) == "":
	case strings.HasPrefix(line, "go: downloading "):
		o.fetched++
	case importPathRE().MatchString(line):
		o.compiled++
	default:
		if len(line) > lineBytes {
			line = strings.ToValidUTF8(line[:lineBytes], "") + "..."
		}
		if slices.Contains(o.tail, line) {
			return // go repeats an error for each package
		}
		o.tail = append(o.tail, line)
		if len(o.tail) > tailLines {
			o.tail = o.tail[1:]
		}
	}
}

// counts describes what go has done so far, as ": ...", or returns "" if all came from its caches.
func (o *output) counts() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var done []string
	if o.fetched > 0 {
		done = append(done, fmt.Sprintf("%d modules fetched", o.fetched))
	}
	if o.compiled > 0 {
		done = append(done, fmt.Sprintf("%d packages compiled", o.compiled))
	}
	if len(done) == 0 {
		return ""
	}
	return ": " + strings.Join(done, ", ")
}

// lines returns the last lines that do not report progress.
func (o *output) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if rest := strings.TrimSpace(string(o.partial)); rest != "" {
		return append(o.tail[:len(o.tail):len(o.tail)], rest)
	}
	return o.tail
}

// diskFull matches the messages of operating systems about a full disk.
var diskFull = lazyregexp.New(`(?i)no space left on device|not enough space on the disk|disk quota exceeded`)

// DiskFull reports whether an error's text indicates a full disk.
func DiskFull(text string) bool { return diskFull().MatchString(text) }

// knownFailures has hints for messages of go and of operating systems. The first match
// counts.
var knownFailures = []struct {
	text func() *regexp.Regexp
	hint string
}{
	{diskFull,
		"a build needs about 5 GB in go's build cache (go env GOCACHE), its module cache (go env GOMODCACHE) and the folder of the programs: free space, then repeat the command, which continues where it stopped"},
	{lazyregexp.New(`requires go >= |invalid go version|unknown directive: tool|toolchain not available|package \S+ is not in std`),
		"a newer Go is needed: install it from https://go.dev/dl, or let go fetch it with GOTOOLCHAIN=auto"},
	{lazyregexp.New(`disabled by GOPROXY=off|(?i)dial tcp|no such host|connection refused|connection reset|i/o timeout|network is unreachable|TLS handshake|proxyconnect|x509: |(40[137]|50[0-4]) [A-Z][a-z]+`),
		"set GOPROXY to a Go module proxy that this machine can reach"},
	{lazyregexp.New(`signal: killed|cannot allocate memory|out of memory`),
		"the build ran out of memory: set GOFLAGS=-p=1 to compile one package at a time"},
}

// explain returns an error for a failure of go, with the last lines of its output, and
// with a hint if the cause is known.
func (o *output) explain(what string, err error) error {
	lines := o.lines()
	if len(lines) == 0 {
		return fault.Failed(o.instead, "%s: %v", what, err)
	}
	text := strings.Join(lines, "\n")
	hint := o.instead
	for _, k := range knownFailures {
		if k.text().MatchString(text) {
			hint = k.hint + ", or " + o.instead
			break
		}
	}
	if len(lines) > 1 {
		return fault.Failed(hint, "%s: %v:\n  %s", what, err, strings.Join(lines, "\n  "))
	}
	return fault.Failed(hint, "%s: %v: %s", what, err, text)
}
