//go:build testall

package kubectl

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kballard/go-shellquote"
	"github.com/operon-dev/operon/internal/hooks/fakeapi"
	"github.com/operon-dev/operon/internal/hooks/kinds"
)

var update = flag.Bool("update", false, "update the recorded outputs")

// TestSessions runs the sessions in testdata, each with its own server. In a session, a line
// that begins with $ is a call, lines that begin with | are its stdin, and the others are its
// output, with ! before stderr.
func TestSessions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.session")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(text), overSocket(t))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(text), got); diff != "" {
				t.Errorf("(-recorded +got):\n%s", diff)
			}
		})
	}
}

// overSocket executes calls over a socket, as in hook tests, on a new server in memory.
func overSocket(t *testing.T) answerer {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- Serve(context.Background(), l, fakeapi.New(kinds.Builtin()), "", nil) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return func(args []string, stdin string) (stdout, stderr string, exit int) {
		var out, errOut bytes.Buffer
		exit, err := Forward(context.Background(), socket, Call{Args: args, Dir: "testdata", Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errOut})
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return out.String(), errOut.String(), exit
	}
}

// answerer executes a call of kubectl.
type answerer func(args []string, stdin string) (stdout, stderr string, exit int)

// replay runs the calls of a session, and returns the session with their outputs.
func replay(t *testing.T, text string, answer answerer) string {
	t.Helper()
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		i++
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "$ ") {
			continue
		}
		out.WriteString(line + "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		var stdin strings.Builder
		for ; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
			out.WriteString(lines[i] + "\n")
			stdin.WriteString(strings.TrimPrefix(lines[i], "|") + "\n")
		}
		args, err := shellquote.Split(line[2:])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		stdout, stderr, exit := answer(args, stdin.String())
		for l := range strings.Lines(stdout) {
			out.WriteString(strings.TrimRight(l, "\n") + "\n")
		}
		for l := range strings.Lines(stderr) {
			fmt.Fprintf(&out, "! %s\n", strings.TrimRight(l, "\n"))
		}
		if exit != 0 {
			fmt.Fprintf(&out, "! exit code %d\n", exit)
		}
	}
	return out.String()
}

// TestLongVariable reads a file of variables with a long line.
func TestLongVariable(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<17)
	stdout, stderr, exit := overSocket(t)([]string{"create", "configmap", "a", "--from-env-file=/dev/stdin", "-o", "jsonpath={.data.LONG} {.data.AFTER}"}, "LONG="+long+"\r\nAFTER=yes\n")
	if stdout != long+" yes" || stderr != "" || exit != 0 {
		t.Errorf("%.40q..., %q, exit code %d", stdout, stderr, exit)
	}
}
