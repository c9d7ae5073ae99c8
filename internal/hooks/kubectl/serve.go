package kubectl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/process"
)

// Socket is the environment variable with the path of the socket on which the test
// process listens for calls of the shim.
const Socket = "OPERON_KUBECTL"

// request and response are sent over the socket as one JSON value each.
type (
	request struct {
		Args  []string
		Dir   string
		Stdin []byte
		Files map[string][]byte // that only the caller can read, such as /dev/fd/63
	}
	response struct {
		Stdout, Stderr []byte
		Exit           int
	}
)

// Serve executes the calls that Forward sends, until the listener is closed and the
// running calls have ended. It reports each call to seen, unless seen is nil.
func Serve(ctx context.Context, l net.Listener, api API, namespace string, seen func(args []string, exit int)) error {
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		calls.Go(func() {
			defer func() { _ = conn.Close() }()
			var q request
			if json.NewDecoder(conn).Decode(&q) != nil {
				return // the hook was killed
			}
			var stdout, stderr bytes.Buffer
			exit := run(ctx, api, Call{Args: q.Args, Dir: q.Dir, Namespace: namespace, files: q.Files,
				Stdin: bytes.NewReader(q.Stdin), Stdout: &stdout, Stderr: &stderr})
			if seen != nil {
				seen(q.Args, exit)
			}
			_ = json.NewEncoder(conn).Encode(response{stdout.Bytes(), stderr.Bytes(), exit})
		})
	}
}

// Forward sends a call to the process that listens on a socket, and returns the exit
// code of the call. It reads stdin when the arguments name it as a file.
func Forward(ctx context.Context, socket string, c Call) (int, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return 0, fmt.Errorf("no test is running: %w", err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	q := request{Args: c.Args, Dir: c.Dir, Files: map[string][]byte{}}
	for _, arg := range c.Args {
		name := arg[max(strings.LastIndex(arg, "="), strings.LastIndex(arg, ","))+1:]
		if !strings.HasPrefix(name, "/dev/fd/") && !strings.HasPrefix(name, "/proc/self/fd/") {
			continue
		}
		if q.Files[name], err = os.ReadFile(name); err != nil {
			return 0, err
		}
	}
	if readsStdin(c.Args) {
		if q.Stdin, err = io.ReadAll(c.Stdin); err != nil {
			return 0, err
		}
	}
	if err := json.NewEncoder(conn).Encode(q); err != nil {
		return 0, err
	}
	var p response
	if err := json.NewDecoder(conn).Decode(&p); err != nil {
		return 0, fmt.Errorf("the test ended before the call of kubectl: %w", err)
	}
	_, errOut := c.Stdout.Write(p.Stdout)
	_, errErr := c.Stderr.Write(p.Stderr)
	return p.Exit, errors.Join(errOut, errErr)
}

// readsStdin reports whether the arguments name stdin as a file.
func readsStdin(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return arg == "-" || arg == "-f-" || strings.HasPrefix(arg, "-") && strings.HasSuffix(arg, "=-") || strings.HasSuffix(arg, "/dev/stdin") // config=/dev/stdin
	})
}

// shim is the script that hooks run as kubectl.
const shim = `#!/bin/sh
exec %s hooks kubectl -- "$@"
`

// Shim writes a script named kubectl into a folder, for PATH. operon is the path of the
// program that the script calls.
func Shim(dir, operon string) error {
	quoted := "'" + strings.ReplaceAll(operon, "'", `'\''`) + "'"
	return process.WriteProgram(dir+"/kubectl", fmt.Appendf(nil, shim, quoted), 0o755)
}
