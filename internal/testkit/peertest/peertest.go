package peertest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/testkit/answers"
)

// Folder replaces the path of the folder that a program works on in its output.
const Folder = "/FOLDER"

// Question describes a run of a program on files.
type Question struct {
	Args  []string
	Env   []string          // added to the environment of this process; the last value of a name counts
	Files map[string]string // by slash-separated path below a new folder, with times years ago
	Dir   string            // the working folder of the program, below that folder
	// Modules limits go.mod and go.sum, as far as a recorded answer depends on them, to the lines that contain it.
	Modules string
}

// Answer is the result of a run.
type Answer struct {
	Code           int
	Stdout, Stderr string            // with Folder in place of the folder
	Written        map[string]string // the files that it wrote, even with the same content as before
}

// Peer is a program to compare with.
type Peer struct {
	Path     string
	identity string // the part of the key that all questions share
}

// Find returns a program that testdata/peers pins.
func Find(t testing.TB, name string) Peer {
	t.Helper()
	once, _ := peers.LoadOrStore(name, sync.OnceValues(func() (Peer, error) { return find(name) }))
	p, err := once.(func() (Peer, error))()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

var peers sync.Map // functions that find a program, by its name

// Go returns the go command itself. Its verdict on sources depends on the sources alone.
func Go(t testing.TB) Peer {
	t.Helper()
	p, err := goPeer()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var goPeer = sync.OnceValues(func() (Peer, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return Peer{}, err
	}
	return at(path)
})

// at returns the peer whose program is the file path.
func at(path string) (Peer, error) {
	program, err := os.ReadFile(path)
	if err != nil {
		return Peer{}, err
	}
	settings, err := settings()
	if err != nil {
		return Peer{}, err
	}
	return Peer{Path: path, identity: fmt.Sprintf("%x\n%s", store.KeyOf(string(program)), settings)}, nil
}

// Identity returns a text that changes with the program and with the settings of the go command, as a part of
// the key of Cached.
func (p Peer) Identity() string { return p.identity }

// settings returns the settings of the go command, and the identity of its C compiler.
func settings() (string, error) {
	out, err := goCommand(os.TempDir(), "env")
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(out, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return strings.Contains(line, "GOGCCFLAGS=") // it names a new folder each time
	})
	cc, err := goCommand(os.TempDir(), "env", "CC")
	if err != nil {
		return "", err
	}
	if name, err := exec.LookPath(strings.TrimSpace(cc)); err == nil {
		info, err := os.Stat(name)
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintln(name, info.Size(), info.ModTime().UnixNano()))
	}
	return strings.Join(append(lines, os.Getenv("GOPACKAGESDRIVER")), ""), nil
}

// Ask returns what is recorded about a run of a program that testdata/peers pins: Short texts, and Sums of the
// files that it wrote.
func Ask(t testing.TB, name, program string, q Question) Answer {
	t.Helper()
	return answers.Ask(t, name, Recorded(t, program, q), func() Answer {
		a := Find(t, program).Run(t, q)
		return Answer{a.Code, answers.Short(a.Stdout), answers.Short(a.Stderr), answers.Sums(a.Written)}
	})
}

// Recorded returns a question to a pinned program in the form of package answers.
func Recorded(t testing.TB, program string, q Question) answers.Question {
	t.Helper()
	version, err := pinnedVersion(program)
	if err != nil {
		t.Fatal(err)
	}
	parts := append([]string{q.Dir, fmt.Sprint(len(q.Args), len(q.Env))}, q.Args...)
	files := maps.Clone(q.Files)
	for name, content := range files {
		if base := path.Base(name); q.Modules != "" && (base == "go.mod" || base == "go.sum") {
			lines := slices.Collect(strings.Lines(content))
			files[name] = strings.Join(slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, q.Modules) }), "")
		}
	}
	return answers.Question{Peer: program + " " + version, Parts: append(parts, q.Env...), Files: files}
}

// Ask returns the cached answer to a question, or the answer of a run. A failure is cached when
// it occurs a second time.
func (p Peer) Ask(t testing.TB, q Question) Answer {
	t.Helper()
	key := p.key(q)
	return Cached(t, key, func() (Answer, bool) {
		a := p.Run(t, q)
		return a, a.cacheable() && (a.Code == 0 || failedBefore(t, key, a))
	})
}

// failedBefore reports whether a question failed in the same way before. A single failure may
// be due to a full disk or a killed compiler.
func failedBefore(t testing.TB, key []string, a Answer) bool {
	t.Helper()
	seen := true
	Cached(t, append(key, fmt.Sprintf("failed: %#v", a)), func() (bool, bool) {
		seen = false
		return true, true
	})
	return seen
}

// key returns all inputs of an answer, except for the module cache, where a version of a
// module never changes.
func (p Peer) key(q Question) []string {
	parts := append([]string{p.identity, q.Dir, fmt.Sprint(len(q.Args), len(q.Env))}, q.Args...)
	parts = append(parts, q.Env...)
	for _, name := range slices.Sorted(maps.Keys(q.Files)) {
		parts = append(parts, name, q.Files[name])
	}
	return parts
}

// cacheable reports whether a later run gives the same answer. It may not if the program was
// killed, or lacked a module that may be in the module cache later.
func (a Answer) cacheable() bool { return a.Code >= 0 && !strings.Contains(a.Stderr, "GOPROXY=off") }
