package answers

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

var question = Question{Peer: "gofmt v1.2.3", Parts: []string{"-l", "."}, Files: map[string]string{"a.go": "package  a\n"}}

// reply has all types that tests record.
type reply struct {
	Code    int
	Stdout  string
	Written map[string]string
}

var replied = reply{1, "a.go <b> & \"c\"\n", map[string]string{"a.go": Sum("package a\n")}}

// recorded records the reply in a new file.
func recorded(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "pkg", "case.json")
	if err := write(file, question, replied); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRead(t *testing.T) {
	t.Parallel()
	got, err := read[reply](recorded(t), question)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(replied) {
		t.Errorf("%v %v, want %v", got, err, replied)
	}
}

// TestRefused reads answers that do not belong to the question.
func TestRefused(t *testing.T) {
	t.Parallel()
	other := func(change func(*Question)) Question {
		q := Question{question.Peer, append([]string{}, question.Parts...), map[string]string{"a.go": question.Files["a.go"]}}
		change(&q)
		return q
	}
	for name, tt := range map[string]struct {
		edit func(content string) string
		ask  Question
		want string
	}{
		"missing":            {func(string) string { return "" }, question, "no recorded answer: .* does not exist"},
		"edited answer":      {func(c string) string { return strings.Replace(c, `"Code": 1`, `"Code": 0`, 1) }, question, "was edited by hand"},
		"edited question":    {func(c string) string { return strings.Replace(c, question.sum(), Question{}.sum(), 1) }, question, "was edited by hand"},
		"edited peer":        {func(c string) string { return strings.Replace(c, "v1.2.3", "v1.2.4", 1) }, question, "was edited by hand"},
		"no JSON":            {func(c string) string { return c[:len(c)/2] }, question, "is damaged: (invalid|unexpected)"},
		"another version":    {nil, other(func(q *Question) { q.Peer = "gofmt v1.3.0" }), "is an answer of gofmt v1.2.3, and the tests compare with gofmt v1.3.0"},
		"another argument":   {nil, other(func(q *Question) { q.Parts[0] = "-w" }), "the input of the test has changed"},
		"joined arguments":   {nil, other(func(q *Question) { q.Parts = []string{"-l ."} }), "the input of the test has changed"},
		"another file":       {nil, other(func(q *Question) { q.Files["a.go"] = "package a\n" }), "the input of the test has changed"},
		"one more file":      {nil, other(func(q *Question) { q.Files["b.go"] = "" }), "the input of the test has changed"},
		"a file as argument": {nil, other(func(q *Question) { q.Parts, q.Files = append(q.Parts, "a.go"), nil }), "the input of the test has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := recorded(t)
			if tt.edit != nil {
				content := tt.edit(treetest.ReadFile(t, file))
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
				if content != "" {
					treetest.WriteFile(t, file, content)
				}
			}
			if got, err := read[reply](file, tt.ask); err == nil || !regexp.MustCompile(tt.want).MatchString(err.Error()) {
				t.Errorf("%v %v, want %s", got, err, tt.want)
			}
		})
	}
}

// failing is a test that may fail.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper()      {}
func (f *failing) Name() string { return "TestFails" }
func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// TestAsk asks for an answer that nobody recorded. The error names the command that records it.
func TestAsk(t *testing.T) {
	t.Parallel()
	if Recording() {
		return // it would record the answer
	}
	test, done := &failing{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		Ask(test, "no such/case", question, func() reply { t.Error("asked the peer"); return replied })
	}()
	<-done
	const want = "no recorded answer: testdata/answers/internal/testkit/answers/no-such-case.json does not exist; " +
		"run `make record ONLY=internal/testkit/answers`, which asks gofmt v1.2.3"
	if test.message != want {
		t.Errorf("%q, want %q", test.message, want)
	}
}

// TestUnused lists files that no test asked for.
func TestUnused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"asked.json", "left.json", "deeper/other.json"} {
		treetest.WriteFile(t, filepath.Join(dir, name), "{}")
	}
	if first, other := markAsked("asked.json", question); !first || other {
		t.Error("the first question is not")
	}
	if first, other := markAsked("asked.json", question); first || other {
		t.Error("the same question is another")
	}
	if _, other := markAsked("asked.json", Question{}); !other {
		t.Error("another question is the same")
	}
	unused, err := unusedIn(dir)
	if err != nil || len(unused) != 1 || filepath.Base(unused[0]) != "left.json" {
		t.Errorf("%v %v, want left.json", unused, err)
	}
	if unused, err := unusedIn(filepath.Join(dir, "none")); err != nil || len(unused) != 0 {
		t.Errorf("no folder: %v %v", unused, err)
	}
}

// TestFolders checks that each folder with answers belongs to a package whose tests can ask for them, and fail for others.
func TestFolders(t *testing.T) {
	t.Parallel()
	for name := range treetest.Read(t, repository.Path("testdata", "answers")) {
		sources, err := filepath.Glob(filepath.Join(repository.Path(filepath.FromSlash(name)), "..", "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		checks := false
		for _, source := range sources {
			checks = checks || mainOf.MatchString(treetest.ReadFile(t, source))
		}
		if !checks {
			t.Errorf("testdata/answers/%s belongs to no package whose TestMain looks for unused answers", name)
		}
	}
}

// mainOf matches the call of a function that calls Finish.
var mainOf = regexp.MustCompile(`(answers|gentest|operontest|testlog)\.Main\(m\)`)

func TestShort(t *testing.T) {
	t.Parallel()
	for text, plain := range map[string]bool{
		"": true, "Version: v1\n": true, "a\nb\n": false, strings.Repeat("x", maxPlain+1): false,
	} {
		if got := Short(text); (got == text) != plain || !plain && len(got) != 23 {
			t.Errorf("%q is %q", text, got)
		}
	}
}
