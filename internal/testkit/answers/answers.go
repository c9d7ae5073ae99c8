// Package answers records what peers and servers answered to tests, in testdata/answers/<package>/<case>.json.
// Tests compare operon with these files, so that they need neither the programs nor a network.
//
// A file has a checksum of the question, the answer, and a checksum of both. The question is all that decides
// the answer: the peer with its pinned version, arguments and input files. A test fails if the file is missing,
// belongs to another question, or was edited by hand. Then `make record ONLY=<package>` asks the real peer or
// server, which is the function that a test passes to Ask, and writes the file.
//
// Formats and figures of peers may be recorded, but not their texts or templates: Short replaces these by a checksum.
package answers

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/repository"
)

// Variable is the environment variable that makes Ask ask peers and servers, and write what they answer.
const Variable = "OPERON_RECORD"

// Recording reports whether answers are recorded.
func Recording() bool { return os.Getenv(Variable) != "" }

// Question is all that decides an answer.
type Question struct {
	Peer  string            // the program or server with its pinned version, such as "kube-apiserver v1.37.1"
	Parts []string          // arguments and other inputs, in their order
	Files map[string]string // contents of input files, by slash-separated path
}

// sum returns the checksum of a question.
func (q Question) sum() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", q.Peer, q.Parts)
	for _, name := range slices.Sorted(maps.Keys(q.Files)) {
		fmt.Fprintf(h, "%q %q\n", name, q.Files[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// entry is the content of a file.
type entry struct {
	Peer     string          `json:"peer"`
	Question string          `json:"question"` // its checksum
	Answer   json.RawMessage `json:"answer"`
	Checksum string          `json:"checksum"` // of the other fields
}

func (e entry) sum() string {
	var plain bytes.Buffer
	_ = json.Compact(&plain, e.Answer) // an invalid answer has another checksum, too
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n", e.Peer, e.Question, plain.Bytes())))[:32]
}

// Ask returns the recorded answer to a question. name tells the cases of a package apart. ask asks the real peer
// or server. It runs only while answers are recorded. A has exported fields, or is a plain value.
func Ask[A any](t testing.TB, name string, q Question, ask func() A) A {
	t.Helper()
	name = fileName(name)
	first, other := markAsked(name, q)
	file := filepath.Join(folder(), name)
	switch {
	case other:
		t.Fatalf("two questions have the answer %s", name)
	case first && Recording():
		if err := write(file, q, ask()); err != nil {
			t.Fatal(err)
		}
	}
	a, err := read[A](file, q)
	if err != nil {
		t.Fatalf("%v; run `make record ONLY=%s`, which asks %s", err, packagePath(), q.Peer)
	}
	return a
}

var notPlain = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// fileName returns the name of the file of a case.
func fileName(name string) string { return notPlain.ReplaceAllString(name, "-") + ".json" }

func read[A any](file string, q Question) (a A, err error) {
	shown, _ := filepath.Rel(repository.Path(), file)
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return a, fmt.Errorf("no recorded answer: %s does not exist", filepath.ToSlash(shown))
	} else if err != nil {
		return a, err
	}
	var e entry
	if err := json.Unmarshal(content, &e); err != nil {
		return a, fmt.Errorf("%s is damaged: %w", shown, err)
	}
	switch {
	case e.Checksum != e.sum():
		return a, fmt.Errorf("%s was edited by hand, or is damaged", shown)
	case e.Peer != q.Peer:
		return a, fmt.Errorf("%s is an answer of %s, and the tests compare with %s", shown, e.Peer, q.Peer)
	case e.Question != q.sum():
		return a, fmt.Errorf("%s is the answer to another question: the input of the test has changed", shown)
	}
	return a, json.Unmarshal(e.Answer, &a)
}

func write[A any](file string, q Question, a A) error {
	var err error
	e := entry{Peer: q.Peer, Question: q.sum()}
	if e.Answer, err = json.Marshal(a); err != nil {
		return err
	}
	e.Checksum = e.sum()
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(e); err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content.Bytes(), 0o644))
}

// maxPlain is the number of bytes from which a text is recorded as a checksum.
const maxPlain = 100

// Short returns a text that is empty or a single short line, and otherwise its checksum, for both sides of a comparison.
func Short(text string) string {
	if len(text) <= maxPlain && strings.Count(text, "\n") <= 1 {
		return text
	}
	return Sum(text)
}

// Sum returns the checksum of a text.
func Sum(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))[:23] }

// Sums returns the checksums of files, for both sides of a comparison.
func Sums(files map[string]string) map[string]string {
	sums := make(map[string]string, len(files))
	for name, content := range files {
		sums[name] = Sum(content)
	}
	return sums
}

// packagePath returns the slash-separated path of the package under test in the repository.
var packagePath = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.Rel(repository.Path(), dir)
	}
	if err != nil {
		panic(err) // go test runs each test in the folder of its package
	}
	return filepath.ToSlash(dir)
})

// folder returns the folder with the answers of the package under test.
func folder() string {
	return repository.Path("testdata", "answers", filepath.FromSlash(packagePath()))
}

// asked are the checksums of the questions that tests of this process asked, by the names of the files.
var asked sync.Map

// markAsked reports whether a question is the first one for a file, or another one than before.
func markAsked(name string, q Question) (first, other bool) {
	before, found := asked.LoadOrStore(name, q.sum())
	return !found, before != q.sum()
}

// Main runs the tests of a package and exits.
//
//	func TestMain(m *testing.M) { answers.Main(m) }
func Main(m *testing.M) { os.Exit(Finish(m.Run())) }

// Finish returns the exit code of a package whose tests ended with a code. After a run of all tests, it fails for files that
// no test asked for, or removes them if answers are recorded.
func Finish(code int) int {
	if code != 0 || selected() || runtime.GOOS != "linux" { // elsewhere, some tests do not run
		return code
	}
	unused, err := unusedIn(folder())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, file := range unused {
		if Recording() {
			err = errors.Join(err, os.Remove(file))
			continue
		}
		shown, _ := filepath.Rel(repository.Path(), file)
		fmt.Fprintf(os.Stderr, "no test asks for %s; run `make record ONLY=%s`, which removes it\n", filepath.ToSlash(shown), packagePath())
		code = 1
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// selected reports whether flags select some of the tests, or none.
func selected() bool {
	for _, name := range []string{"run", "skip", "list", "bench", "fuzz"} {
		if flag.Lookup("test."+name).Value.String() != "" {
			return true
		}
	}
	return flag.Lookup("test.short").Value.String() == "true"
}

// unusedIn returns the files in a folder that no test asked for.
func unusedIn(dir string) (unused []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if _, found := asked.Load(e.Name()); !found && !e.IsDir() {
			unused = append(unused, filepath.Join(dir, e.Name()))
		}
	}
	return unused, err
}
