package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/term"
)

// answers is a person who knows what to say. It is asked in order, and an
// answer that is not valid is asked for again, as on a terminal.
type answers struct {
	t     *testing.T
	texts []string
	asked []string
	stop  bool // press Ctrl-C instead
}

func (a *answers) next(question string) string {
	a.asked = append(a.asked, question)
	if len(a.texts) == 0 {
		a.t.Fatalf("no answer left for %q", question)
	}
	text := a.texts[0]
	a.texts = a.texts[1:]
	return text
}

func (a *answers) Confirm(_ context.Context, question string, _ bool) (bool, error) {
	if a.stop {
		return false, term.ErrInterrupted
	}
	return a.next(question) == "y", nil
}

func (a *answers) Input(_ context.Context, question, _ string, valid func(string) error) (string, error) {
	if a.stop {
		return "", term.ErrInterrupted
	}
	for {
		if text := a.next(question); valid(text) == nil {
			return text, nil
		}
	}
}

// person returns an App in a fresh project whose user gives the answers.
func person(t *testing.T, texts ...string) (a *command.App, who *answers, out, errs *bytes.Buffer) {
	t.Helper()
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	a = &command.App{
		In: strings.NewReader(""), Out: out, Err: errs, Dir: t.TempDir(), Layouts: layouts(),
		Environ: append(os.Environ(), "SOURCE_DATE_EPOCH=1767225600", "OPERON_CACHE="+t.TempDir()), Now: time.Now,
	}
	if code := run(t.Context(), a, []string{"init", "--domain", "example.org", "--repo", "example.org/fleet"}); code != 0 {
		t.Fatalf("init: exit code %d\n%s", code, errs)
	}
	out.Reset()
	errs.Reset()
	who = &answers{t: t, texts: texts}
	a.Prompt = who
	return a, who, out, errs
}

func TestCreateHookAsks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("hooks are for Linux")
	}
	a, _, out, errs := person(t)
	a.Dir = t.TempDir()
	if code := run(t.Context(), a, []string{"init", "--domain", "example.org", "--plugins", "shell"}); code != 0 {
		t.Fatalf("init: exit code %d\n%s", code, errs)
	}
	who := &answers{t: t, texts: []string{"My Hook", "secrets", "Secert", "Secret"}}
	a.Prompt = who
	out.Reset()
	if code := run(t.Context(), a, []string{"create", "hook", "--selector", "app in (a)", "--make=false"}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if len(who.texts) > 0 {
		t.Errorf("not asked for: %q", who.texts)
	}
	if !strings.Contains(out.String(), "create   hooks/secrets.sh") {
		t.Errorf("plan:\n%s", out)
	}
	const same = "operon create hook secrets --on kubernetes:Secret --selector 'app in (a)' --make=false\n"
	if !strings.Contains(errs.String(), same) {
		t.Errorf("the equivalent command line is missing:\n%s", errs)
	}
	// Who says all is asked nothing, and a kind needs no controller.
	for _, args := range [][]string{
		{"create", "hook", "secrets", "--on", "kubernetes:Secret", "--selector", "app in (a)", "--make=false"},
		{"create", "api", "--group", "g", "--version", "v1", "--kind", "Boat", "--make=false"},
	} {
		if code := run(t.Context(), a, args); code != 0 {
			t.Errorf("%v: exit code %d\n%s", args, code, errs)
		}
	}
}

func TestCreateAPIAsks(t *testing.T) {
	t.Parallel()
	a, who, out, errs := person(t, "ship", "1", "v1", "foo-bar", "Frigate", "y", "n")
	if code := run(t.Context(), a, []string{"create", "api", "--make=false"}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if len(who.texts) > 0 {
		t.Errorf("not asked for: %q", who.texts)
	}
	if !strings.Contains(out.String(), "create   api/v1/frigate_types.go") || strings.Contains(out.String(), "internal/controller") {
		t.Errorf("plan:\n%s", out)
	}
	const same = "operon create api --make=false --group=ship --version=v1 --kind=Frigate --resource=true --controller=false"
	if !strings.Contains(errs.String(), same) {
		t.Errorf("the equivalent command line is missing:\n%s", errs)
	}

	// That line asks nothing, and has nothing to do.
	out.Reset()
	if code := run(t.Context(), a, strings.Fields(same)[1:]); code != 0 || out.String() != "nothing to do\n" {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

func TestCreateAPIAsksOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	a, who, _, errs := person(t, "y")
	args := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--controller", "--make=false"}
	if code := run(t.Context(), a, args); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if len(who.asked) != 1 || !strings.Contains(who.asked[0], "types") {
		t.Errorf("asked %q", who.asked)
	}
}

func TestCreateWebhookAsks(t *testing.T) {
	t.Parallel()
	a, who, out, errs := person(t, "ship", "v1", "Frigate", "y", "n", "n")
	a.Prompt = nil
	if code := run(t.Context(), a, []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--make=false"}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	a.Prompt = who
	if code := run(t.Context(), a, []string{"create", "webhook", "--make=false"}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	const same = "operon create webhook --make=false --group=ship --version=v1 --kind=Frigate --defaulting=true --programmatic-validation=false --conversion=false"
	if !strings.Contains(errs.String(), same) {
		t.Errorf("the equivalent command line is missing:\n%s", errs)
	}
	out.Reset()
	if code := run(t.Context(), a, strings.Fields(same)[1:]); code != 0 || out.String() != "nothing to do\n" {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if len(who.texts) > 0 {
		t.Errorf("not asked for: %q", who.texts)
	}
}

func TestCreateAPIInterruptedAtTheQuestion(t *testing.T) {
	t.Parallel()
	a, who, out, errs := person(t)
	who.stop = true
	if code := run(t.Context(), a, []string{"create", "api"}); code != 130 {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	if out.Len() > 0 || !strings.Contains(errs.String(), "error: interrupted") {
		t.Errorf("stdout %q, stderr %q", out, errs)
	}
}

// errWriter is a stdout that is full, as /dev/full is.
type errWriter struct{}

func (errWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestFullStdoutIsAnError(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--make=false"},
		{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Sloop", "--make=false", "--output", "json"},
		{"version"},
	} {
		a, _, _, errs := person(t)
		a.Prompt, a.Out = nil, errWriter{}
		if code := run(t.Context(), a, args); code != 1 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%v: exit code %d\n%s", args, code, errs)
		}
	}
}
