package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/process"
)

// bash runs a script that sources the library. contexts is the path of the binding contexts.
// It returns the output, the exit code, and how often the script started jq.
func bash(t *testing.T, contexts, script string, args ...string) (stdout, stderr string, code, forks int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("hooks run on Linux only")
	}
	jq, err := exec.LookPath("jq")
	if err != nil {
		t.Fatal("hooks in bash need jq: install it to run this test")
	}
	dir := t.TempDir()
	for name, file := range map[string]string{
		"lib.sh": string(shellLib),
		"jq":     fmt.Sprintf("#!/bin/sh\necho >>%s/forks\nexec %s \"$@\"\n", dir, jq),
		"hook":   "#!/usr/bin/env bash\nsource " + dir + "/lib.sh\n" + script + "\nhook::run \"$@\"\n",
	} {
		if err := process.WriteProgram(filepath.Join(dir, name), []byte(file), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(dir, "hook"), args...)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "BINDING_CONTEXT_PATH="+contexts)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	lines, _ := os.ReadFile(filepath.Join(dir, "forks"))
	return out.String(), strings.ReplaceAll(errs.String(), dir+"/", ""), code, len(lines)
}

// recorded returns the path of a file with contexts of the real engine.
func recorded(t *testing.T, kind string) string {
	t.Helper()
	name, err := filepath.Abs("binding/testdata/" + kind + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// writeContexts writes contexts to a file and returns its path.
func writeContexts(t *testing.T, contexts string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "contexts.json")
	if err := os.WriteFile(name, []byte(contexts), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestLibraryCallsHandlers checks that the most specific handler of a context runs.
func TestLibraryCallsHandlers(t *testing.T) {
	t.Parallel()
	for contexts, handlers := range map[string]string{
		recorded(t, "onStartup"):       "__on_startup __main__",
		recorded(t, "Synchronization"): "__on_kubernetes::cms::synchronization __on_kubernetes::cms __main__",
		recorded(t, "Event"):           "__on_kubernetes::cms::added __on_kubernetes::cms::added_or_modified __on_kubernetes::cms __main__",
		recorded(t, "Group"):           "__on_group::main __main__",
		recorded(t, "Schedule"):        "__on_schedule::tick __main__",
		recorded(t, "Validating"):      "__on_validating::v.policy.example.com __main__",
		recorded(t, "Mutating"):        "__on_mutating::m.policy.example.com __main__",
		recorded(t, "Conversion"): "__on_conversion::up::stable.example.com.v1alpha1::stable.example.com.v1alpha2 " +
			"__on_conversion::up __main__",
		writeContexts(t, `[{"binding":"cms","type":"Event","watchEvent":"Modified"}]`): "__on_kubernetes::cms::modified " +
			"__on_kubernetes::cms::added_or_modified __on_kubernetes::cms __main__",
		writeContexts(t, `[{"binding":"cms","type":"Event","watchEvent":"Deleted"}]`): "__on_kubernetes::cms::deleted __on_kubernetes::cms __main__",
		writeContexts(t, `[{"binding":"up","type":"Conversion","fromVersion":"v1","toVersion":"v2"}]`): "__on_conversion::up::v1::v2 " +
			"__on_conversion::up __main__",
		writeContexts(t, `[{"type":"Future"}]`): "__main__",
	} {
		names := strings.Fields(handlers)
		for i, name := range names {
			var script strings.Builder
			for _, n := range names[i:] {
				fmt.Fprintf(&script, "%s() { echo %s $BINDING_CONTEXT_CURRENT_INDEX; }\n", n, n)
			}
			stdout, stderr, code, forks := bash(t, contexts, script.String())
			if stdout != name+" 0\n" || code != 0 || stderr != "" {
				t.Errorf("%s: printed %q, %q, exit code %d", name, stdout, stderr, code)
			}
			if forks > 2 {
				t.Errorf("%s: jq ran %d times", name, forks)
			}
		}
		_, stderr, code, _ := bash(t, contexts, "__other__() { :; }")
		if code != 1 || !strings.HasSuffix(stderr, "define one of: "+handlers+"\n") {
			t.Errorf("without a handler: exit code %d, %s", code, stderr)
		}
	}
}

// TestLibraryHandlesEachContext checks that each context is handled in a subshell, and that
// the first failure stops the hook.
func TestLibraryHandlesEachContext(t *testing.T) {
	t.Parallel()
	contexts := writeContexts(t, `[{"binding":"onStartup"},{"binding":"a b","type":"Schedule"},{"binding":"x","type":"Schedule"},{"binding":"onStartup"}]`)
	script := `
		seen=
		__on_startup() { echo "start ${seen}"; seen=1; }
		__on_schedule::x() { context::get binding; return 4; }
		__main__() { echo "${BINDING_CONTEXT_CURRENT_BINDING} $(context::global::jq length) $(context::get type) $seen"; }`
	stdout, stderr, code, _ := bash(t, contexts, script)
	if stdout != "start \na b 4 Schedule \nx\n" || code != 4 {
		t.Errorf("printed %q, exit code %d, %s", stdout, code, stderr)
	}
	if stdout, stderr, code, forks := bash(t, writeContexts(t, "[]"), script); stdout != "" || stderr != "" || code != 0 || forks != 1 {
		t.Errorf("no contexts: %q %q %d, jq ran %d times", stdout, stderr, code, forks)
	}
}

// TestLibraryReadsContexts checks the functions that read the current context.
func TestLibraryReadsContexts(t *testing.T) {
	t.Parallel()
	contexts := writeContexts(t, `[{"binding":"b","type":"Schedule","yes":true,"no":false,"nothing":null,"list":[{"a":1},{"a":2}],
		"keys":{"a.b":"dot","x/y":"slash","x-y":"dash","7":"number","it's":"quote"}}]`)
	calls := map[string]string{
		`context::get binding`:                                "b",
		`context::get .binding`:                               "b",
		`context::get nothing`:                                "null",
		`context::get absent.deep`:                            "null",
		`context::get list.1.a`:                               "2",
		`context::get 'list[1].a'`:                            "2",
		`context::get 'list.[1].a'`:                           "2",
		`context::get 'list[].a'`:                             "1\n2",
		`context::get 'list | length'`:                        "2",
		`context::get "keys.'a.b'"`:                           "dot",
		`context::get 'keys."a.b"'`:                           "dot",
		`context::get 'keys["a.b"]'`:                          "dot",
		`context::get keys.x/y`:                               "slash",
		`context::get keys.x-y`:                               "dash",
		`context::get keys.7`:                                 "number",
		`context::get | head -c 1`:                            "{",
		`context::get --required keys.x-y`:                    "dash",
		`context::get --required nothing`:                     "null",
		`context::get --required 'list[0].a'`:                 "1",
		`context::jq -c '.list' --arg x y`:                    `[{"a":1},{"a":2}]`,
		`context::jq -n '$ENV.BINDING_CONTEXT_CURRENT_INDEX'`: `"0"`,
		`context::global::jq -r '.[0].binding'`:               "b",
		`context::has nothing && echo yes`:                    "yes",
		`context::has list.1 && echo yes`:                     "yes",
		`context::has 'list[1].a' && echo yes`:                "yes",
		`context::has 'list[].a' && echo yes`:                 "yes",
		`context::has keys.7 && echo yes`:                     "yes",
		`context::has 'keys."a.b"' && echo yes`:               "yes",
		`context::has '' && echo yes`:                         "yes",
		`context::has absent || echo no`:                      "no",
		`context::has absent.deep || echo no`:                 "no",
		`context::has binding.deep || echo no`:                "no",
		`context::has list.2 || echo no`:                      "no",
		`context::has list.a || echo no`:                      "no",
		`context::has 'list[].b' || echo no`:                  "no",
		`context::is_true yes && echo yes`:                    "yes",
		`context::is_true no || echo no`:                      "no",
		`context::is_false no && echo yes`:                    "yes",
		`context::is_false nothing || echo no`:                "no",
		`context::is_null nothing && echo yes`:                "yes",
		`context::is_null absent && echo yes`:                 "yes",
		`context::is_null yes || echo no`:                     "no",
	}
	names := slices.Sorted(maps.Keys(calls))
	var script strings.Builder
	for _, call := range names {
		fmt.Fprintf(&script, "{\n%s\n}\nprintf '\\036'\n", call)
	}
	stdout, stderr, code, forks := bash(t, contexts, "__main__() {\n"+script.String()+"}")
	printed := strings.Split(stdout, "\036")
	if code != 0 || stderr != "" || len(printed) != len(names)+1 {
		t.Fatalf("exit code %d, %d printed, %s", code, len(printed), stderr)
	}
	for i, call := range names {
		if got := strings.TrimSuffix(printed[i], "\n"); got != calls[call] {
			t.Errorf("%s: printed %q, want %q", call, got, calls[call])
		}
	}
	if forks != 1+len(calls) {
		t.Errorf("jq ran %d times for %d calls", forks, len(calls))
	}
}

// TestLibraryIsStrict checks that a failure stops the hook, and that the library reports its
// position.
func TestLibraryIsStrict(t *testing.T) {
	t.Parallel()
	contexts := recorded(t, "Schedule")
	for script, want := range map[string]string{
		"helper() {\nfalse\n}\n__main__() {\nhelper\necho on\n}": `error: hook:4: exit code 1 of false
  in helper, called at hook:7
  in __main__
`,
		"__main__() {\nlocal x\nx=$(context::get --required a.b)\necho on\n}": `error: the context of binding tick has no a.b
error: hook:5: exit code 1 of context::get
error: hook:5: exit code 1 of x=$(context::get --required a.b)
  in __main__
`,
		"__main__() {\nfalse | true\necho on\n}": `error: hook:4: exit code 1 of true
  in __main__
`, // bash reports the last line of a pipeline
		"__main__() {\ncaat <<E\na\nE\n}": `hook: line 4: caat: command not found
error: hook:4: exit code 127 of caat <<E
  in __main__
`,
		"__main__() {\necho $unset\necho on\n}":  "hook: line 4: unset: unbound variable\n",
		"__main__() {\nls *.nothing\necho on\n}": "hook: line 4: no match: *.nothing\n",
	} {
		stdout, stderr, code, _ := bash(t, contexts, script)
		if stdout != "" || stderr != want || code == 0 {
			t.Errorf("%s: printed %q, exit code %d, %s", script, stdout, code, stderr)
		}
	}
	if _, stderr, code, _ := bash(t, filepath.Join(t.TempDir(), "none"), "__main__() { :; }"); code == 0 || strings.Count(stderr, "error: hook:") != 1 {
		t.Errorf("missing contexts file: exit code %d, %s", code, stderr)
	}
	if stdout, _, code, forks := bash(t, "", "__config__() { echo configVersion: v1; }", "--config"); stdout != "configVersion: v1\n" || code != 0 || forks != 0 {
		t.Errorf("--config: %q, exit code %d, jq ran %d times", stdout, code, forks)
	}
	if _, _, code, _ := bash(t, "", "__config__() { false; }", "--config"); code == 0 {
		t.Error("--config succeeds although __config__ fails")
	}
}
