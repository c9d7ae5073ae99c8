package load

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/filestat"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/goenv"
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

// settingsKind is the kind of the entries in the store.
const settingsKind = "goenv"

// settings asks the go command for its settings. It keeps the answer in the store as long as
// everything that it depends on is unchanged.
type settings struct {
	store *store.Store
	dir   string   // the folder of the module
	env   []string // of the go command
}

// answer is an answer of the go command, with what it depends on besides the environment.
type answer struct {
	Values   map[string]string
	Compiler string            // the path of CC
	Files    map[string]string // content by path; a missing file is empty
}

type prefetchKey struct{}

// prefetched are settings that are read in the background.
type prefetched struct {
	dir string
	get func() (is map[string]string, ok bool)
}

// Prefetch starts to read the settings of the go command for the module in a folder, and returns a
// context in which queries use them. They may take as long to read as a new kind takes to plan. The
// caller calls stop, which ends what still runs.
func Prefetch(ctx context.Context, dir string, env []string, s *store.Store) (prefetching context.Context, stop func()) {
	if early, ok := ctx.Value(prefetchKey{}).(prefetched); ok && early.dir == dir {
		return ctx, func() {}
	}
	reading, cancel := context.WithCancel(ctx)
	in := settings{store: s, dir: dir, env: goEnv(env)}
	early := prefetched{in.dir, sync.OnceValues(func() (map[string]string, bool) { return in.read(reading) })}
	go early.get()
	return context.WithValue(ctx, prefetchKey{}, early), func() {
		cancel()
		early.get() // waits
	}
}

// get returns the settings by name. ok is false if the go command fails.
func (s settings) get(ctx context.Context) (is map[string]string, ok bool) {
	if early, ok := ctx.Value(prefetchKey{}).(prefetched); ok && early.dir == s.dir {
		return early.get()
	}
	return s.read(ctx)
}

func (s settings) read(ctx context.Context) (is map[string]string, ok bool) {
	program, err := environ.LookPath(s.env, "go")
	if err != nil {
		return nil, false
	}
	key, keyed := s.key(program)
	if keyed && !s.inWorkspace() {
		var kept answer
		if text, found := s.store.Get(settingsKind, key); found && json.Unmarshal(text, &kept) == nil && kept.valid(s.env) {
			return kept.Values, true
		}
	}
	if is, ok = s.ask(ctx); !ok {
		return nil, false
	}
	// In GOROOT, go is no script that may read any file.
	if keyed && is["GOMODCACHE"] != "" && !s.inWorkspace() && sameFile(program, filepath.Join(is["GOROOT"], "bin", filepath.Base(program))) {
		if text, err := json.Marshal(answerOf(is, s.env)); err == nil {
			s.store.Put(settingsKind, key, text)
		}
	}
	return is, true
}

// ask runs go env.
func (s settings) ask(ctx context.Context) (is map[string]string, ok bool) {
	out, err := environ.Command(ctx, s.dir, s.env, "go", append([]string{"env"}, asked...)...).Output()
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

// key identifies the environment and the go command.
func (s settings) key(program string) (key store.Key, ok bool) {
	is, err := filestat.Of(program)
	if err != nil || s.store == nil {
		return store.Key{}, false
	}
	var variables []string
	for _, e := range s.env {
		if name, _, _ := strings.Cut(e, "="); goenv.Variable(name) {
			variables = append(variables, e)
		}
	}
	return store.KeyOf(slices.Concat([]string{"1", program, string(is.Append(nil))}, asked, variables)...), true
}

// inWorkspace reports whether the go command may find a workspace in the folder or above it.
func (s settings) inWorkspace() bool {
	for dir := s.dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, "go.work")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func answerOf(is map[string]string, env []string) answer {
	a := answer{Values: is, Compiler: pathOf(is["CC"], env), Files: map[string]string{}}
	for _, name := range []string{is["GOENV"], filepath.Join(is["GOROOT"], "go.env"), filepath.Join(is["GOROOT"], "VERSION")} {
		if filepath.IsAbs(name) {
			a.Files[name] = contentOf(name)
		}
	}
	return a
}

// valid reports whether what the answer depends on is unchanged.
func (a answer) valid(env []string) bool {
	if pathOf(a.Values["CC"], env) != a.Compiler {
		return false
	}
	for name, content := range a.Files {
		if contentOf(name) != content {
			return false
		}
	}
	return true
}

// pathOf returns the path of a C compiler, or "" if there is none. By default, the go command
// enables cgo if there is one.
func pathOf(compiler string, env []string) string {
	program, _, _ := strings.Cut(strings.TrimSpace(compiler), " ")
	found, _ := environ.LookPath(env, program)
	return found
}

func contentOf(name string) string {
	content, _ := filestat.ReadFile(name) // a missing file is empty
	return string(content)
}
