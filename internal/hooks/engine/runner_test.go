//go:build unix

package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/process"
)

// scriptTask returns a task that runs a script.
func scriptTask(t *testing.T, text string) Task {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook.sh")
	if err := process.WriteProgram(path, []byte("#!/bin/bash\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return Task{Hook: Hook{Hook: hooks.Hook{Name: "hook.sh", Path: path}}, Contexts: []binding.Context{binding.Startup()}}
}

var environ = []string{"PATH=" + os.Getenv("PATH"), "CUSTOM=yes"}

// TestRun checks the files and the environment of a hook.
func TestRun(t *testing.T) {
	t.Parallel()
	task := scriptTask(t, `[[ "$VALIDATING_RESPONSE_PATH" == "$ADMISSION_RESPONSE_PATH" && $# == 0 ]] || exit 9
for v in METRICS KUBERNETES_PATCH CONVERSION_RESPONSE ADMISSION_RESPONSE; do
  f=${v}_PATH
  [[ -f "${!f}" && ! -s "${!f}" ]] || exit 8
  echo "$v" >"${!f}"
done
cat "$BINDING_CONTEXT_PATH"
echo "$CUSTOM $PWD $(cat)" >&2
`)
	temp := t.TempDir()
	got, err := Runner{Env: environ, Temp: temp}.Run(t.Context(), task, nil)
	if err != nil || got.ExitCode != 0 {
		t.Fatalf("%v %+v", err, got)
	}
	for _, pair := range [][2]string{
		{string(got.Stdout), "[{\"binding\":\"onStartup\"}]\n"}, {string(got.Stderr), "yes " + filepath.Dir(task.Hook.Path) + " \n"},
		{string(got.Metrics), "METRICS\n"}, {string(got.Patches), "KUBERNETES_PATCH\n"},
		{string(got.Conversion), "CONVERSION_RESPONSE\n"}, {string(got.Admission), "ADMISSION_RESPONSE\n"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("got %q, want %q", pair[0], pair[1])
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files remain: %v %v", left, err)
	}
}

// TestRunCanceled checks that no process of a hook survives the end of the context.
func TestRunCanceled(t *testing.T) {
	t.Parallel()
	canceled := errors.New("canceled")
	ctx, cancel := context.WithCancelCause(t.Context())
	task := scriptTask(t, "sleep 600 & echo $! >child.part; mv child.part child; wait\n")
	child := filepath.Join(filepath.Dir(task.Hook.Path), "child")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(child); err == nil {
				cancel(canceled)
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := (Runner{Env: environ}).Run(ctx, task, nil); !errors.Is(err, canceled) {
		t.Errorf("%v, want %v", err, canceled)
	}
	content, err := os.ReadFile(child)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	for _, c := range strings.TrimSpace(string(content)) {
		pid = pid*10 + int(c-'0')
	}
	for t.Context().Err() == nil && syscall.Kill(pid, 0) == nil {
		status, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(content)), "stat"))
		if err == nil && strings.Contains(string(status), ") Z") {
			break // a zombie
		}
		time.Sleep(time.Millisecond)
	}
}

// TestExecute checks when a hook counts as failed.
func TestExecute(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"exit 0":                     "",
		"echo a >&2; echo b; exit 3": "exit code 3: a",
		"echo b; exit 3":             "exit code 3: b",
		`echo '{' >"$METRICS_PATH"`:  "$METRICS_PATH:1: ",
		`echo x >"$METRICS_PATH"; echo '{"operation": "Delete"}' >"$KUBERNETES_PATCH_PATH"`: "$METRICS_PATH:1: ",
		`echo x >"$ADMISSION_RESPONSE_PATH"`:                                                "$ADMISSION_RESPONSE_PATH:1: ",
		`echo x >"$CONVERSION_RESPONSE_PATH"`:                                               "$CONVERSION_RESPONSE_PATH:1: ",
		`echo '{"operation": "Delet"}' >"$KUBERNETES_PATCH_PATH"`:                           "$KUBERNETES_PATCH_PATH:1: operation is \"Delet\"",
		`echo '{"operation": "Delete"}' >"$KUBERNETES_PATCH_PATH"; exit 1`:                  "exit code 1",
		"rm \"$METRICS_PATH\"":                                                              "no such file",
		`rm "$KUBERNETES_PATCH_PATH"; mkfifo "$KUBERNETES_PATCH_PATH"`:                      "object-patch: not a regular file",
		`rm "$METRICS_PATH"; ln -s /dev/zero "$METRICS_PATH"`:                               "metrics.json: not a regular file",
		`truncate -s 17M "$ADMISSION_RESPONSE_PATH"`:                                        "admission-response.json: larger than 16 MiB",
	} {
		_, err := Executor{Runner: Runner{Env: environ}, Applier: kubeapi.Applier{}}.Execute(t.Context(), scriptTask(t, text))
		if got := ""; err != nil {
			got = err.Error()
			if want == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: no error, want %q", text, want)
		}
	}
}

// TestRunAddon checks that a hook of addon-operator has values files and no response files.
func TestRunAddon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	task := scriptTask(t, `cat "$VALUES_PATH" "$CONFIG_VALUES_PATH"; echo " $PWD ${ADMISSION_RESPONSE_PATH-none} ${CONVERSION_RESPONSE_PATH-none}"
echo a >"$VALUES_JSON_PATCH_PATH"; echo b >"$CONFIG_VALUES_JSON_PATCH_PATH"; echo c >"$METRICS_PATH"; echo d >"$KUBERNETES_PATCH_PATH"`)
	got, err := Runner{Env: environ, Dir: dir}.Run(t.Context(), task, &ValuesFiles{Values: []byte("{}"), Config: []byte("null")})
	if err != nil || got.ExitCode != 0 {
		t.Fatalf("%v %+v", err, got)
	}
	printed := string(got.Stdout) + string(got.ValuesPatch) + string(got.ConfigPatch) + string(got.Metrics) + string(got.Patches)
	if want := "{}null " + dir + " none none\na\nb\nc\nd\n"; printed != want {
		t.Errorf("got  %q\nwant %q", printed, want)
	}
}

// values implements Values, and returns errors.
type values struct{ readErr, applyErr error }

func (values) Files() ([]byte, []byte, error) { return []byte("{}"), []byte("{}"), nil }

func (v values) Read(_, _ []byte) (func() error, error) {
	return func() error { return v.applyErr }, v.readErr
}

// TestExecuteValues checks that the hook fails for an invalid values patch, and for a values patch
// that cannot be applied.
func TestExecuteValues(t *testing.T) {
	t.Parallel()
	readErr, applyErr := errors.New("invalid patch"), errors.New("invalid values")
	for _, v := range []values{{}, {readErr: readErr}, {applyErr: applyErr}} {
		e := Executor{Runner: Runner{Env: environ}, Values: v}
		_, err := e.Execute(t.Context(), scriptTask(t, `true`))
		want := errors.Join(v.readErr, v.applyErr)
		if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

// TestRunEndless checks that a hook with endless output is stopped.
func TestRunEndless(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"exec yes", "yes >&2; exit 3"} {
		got, err := Runner{Env: environ}.Run(t.Context(), scriptTask(t, text), nil)
		if !errors.Is(err, process.ErrTooMuchOutput) || len(got.Stdout)+len(got.Stderr) == 0 {
			t.Errorf("%s: %v, %d bytes", text, err, len(got.Stdout)+len(got.Stderr))
		}
	}
}
