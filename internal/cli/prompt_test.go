package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/term"
)

// fakePrompter answers prompts in order. After an invalid answer it gives the next one, as a
// person on a terminal would.
type fakePrompter struct {
	t         *testing.T
	answers   []string // not used yet
	questions []string
	interrupt bool   // press Ctrl-C instead
	project   string // its folder, which must not be locked while a person thinks
}

func (p *fakePrompter) next(question string) string {
	p.questions = append(p.questions, question)
	if p.project != "" {
		unlock, err := scaffold.Lock(p.project)
		if err != nil {
			p.t.Errorf("%s: %v", question, err)
		} else {
			unlock()
		}
	}
	if len(p.answers) == 0 {
		p.t.Fatalf("no answer left for %q", question)
	}
	answer := p.answers[0]
	p.answers = p.answers[1:]
	return answer
}

func (p *fakePrompter) Confirm(_ context.Context, question string, _ bool) (bool, error) {
	if p.interrupt {
		return false, term.ErrInterrupted
	}
	return p.next(question) == "y", nil
}

func (p *fakePrompter) Input(_ context.Context, question, _ string, valid func(string) error) (string, error) {
	if p.interrupt {
		return "", term.ErrInterrupted
	}
	for {
		if answer := p.next(question); valid(answer) == nil {
			return answer, nil
		}
	}
}

func (p *fakePrompter) Select(ctx context.Context, question string, choices []string, preset string) (string, error) {
	return p.Input(ctx, question, preset, func(answer string) error {
		if slices.Contains(choices, answer) {
			return nil
		}
		return errors.New("no choice")
	})
}

func (p *fakePrompter) MultiSelect(_ context.Context, question string, _ []string) ([]string, error) {
	if p.interrupt {
		return nil, term.ErrInterrupted
	}
	return strings.Split(p.next(question), ","), nil
}

// newProject returns an App in a new project, and the prompter that gives the answers.
func newProject(t *testing.T, answers ...string) (a *command.App, prompter *fakePrompter, out, errs *bytes.Buffer) {
	t.Helper()
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	a = &command.App{
		In: strings.NewReader(""), Out: out, Err: errs, Dir: t.TempDir(), Catalogue: catalogue(),
		Environ: append(os.Environ(), "SOURCE_DATE_EPOCH=1767225600", "OPERON_CACHE="+t.TempDir()), Now: time.Now,
	}
	if code := Run(t.Context(), a, []string{"init", "--domain", "example.org", "--repo", "example.org/fleet"}); code != 0 {
		t.Fatalf("init: exit code %d\n%s", code, errs)
	}
	out.Reset()
	errs.Reset()
	prompter = &fakePrompter{t: t, answers: answers, project: a.Dir}
	a.Prompt = prompter
	return a, prompter, out, errs
}

func TestAdoptPrompts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const program = "package main\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n\nfunc main() { _, _ = ctrl.NewManager(nil, ctrl.Options{}) }\n"
	for name, content := range map[string]string{"go.mod": "module example.org/fleet\n", "blue/main.go": program, "red/main.go": program} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	prompter := &fakePrompter{t: t, answers: []string{"green/main.go", "red/main.go", "Example", "example.org"}}
	var out, errs bytes.Buffer
	a := &command.App{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: dir, Catalogue: catalogue(), Environ: os.Environ(), Now: time.Now, Prompt: prompter}
	if code := Run(t.Context(), a, []string{"adopt", "--project-name", "fleet"}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs.String())
	}
	if len(prompter.answers) > 0 {
		t.Errorf("unused answers: %q", prompter.answers)
	}
	if want := "equivalent command: operon adopt --project-name=fleet --main=red/main.go --domain=example.org\n"; !strings.Contains(errs.String(), want) {
		t.Errorf("stderr:\n%s\nwant %q", errs.String(), want)
	}
}

// TestMakePrompt checks that make runs only after a person agreed.
func TestMakePrompt(t *testing.T) {
	t.Parallel()
	a, prompter, _, errs := newProject(t, "n", "y")
	makefile := filepath.Join(a.Dir, "Makefile")
	if err := os.WriteFile(makefile, []byte("generate manifests:\n\tcontroller-gen object paths=$(strip ./...)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	adopt := []string{"adopt", "--make-dry-run", "--allow-dirty"}
	if code := Run(t.Context(), a, adopt); code != 2 || !strings.Contains(errs.String(), "\nerror: make did not run, and PROJECT does not change\nhint: ") {
		t.Errorf("no: exit code %d\n%s", code, errs)
	}
	recorded := func() bool {
		config, err := os.ReadFile(filepath.Join(a.Dir, "PROJECT"))
		return err == nil && strings.Contains(string(config), "- paths=./...\n")
	}
	if recorded() {
		t.Error("PROJECT has the arguments although make did not run")
	}
	if code := Run(t.Context(), a, adopt); code != 0 || !recorded() {
		t.Errorf("yes: exit code %d\n%s", code, errs)
	}
	if len(prompter.answers) > 0 || !strings.Contains(errs.String(), "make runs the $(shell ...) parts of the Makefile when it reads it, also with -n.\n") {
		t.Errorf("stderr:\n%s", errs)
	}
}

// TestToolsPrompt checks that a person chooses the version of controller-tools once.
func TestToolsPrompt(t *testing.T) {
	t.Parallel()
	a, prompter, out, errs := newProject(t, "y")
	for name, content := range map[string]string{
		"Makefile":          "tool: ; go install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.1.0\n",
		"api/v1/widgets.go": "// +kubebuilder:object:generate=true\n// +groupName=ship.example.org\npackage v1\n\n// Widget is a part.\ntype Widget struct{ Parts []string }\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(a.Dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a.Dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"generate", "--dry-run"}, {"generate"}, {"generate"}} {
		if code := Run(t.Context(), a, args); code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, errs)
		}
	}
	if want := []string{"The project pins controller-tools v0.1.0, which Go 1.25 and later versions cannot build, and operon has " + pins.ControllerTools + ". Always generate with operon's version?"}; !slices.Equal(prompter.questions, want) {
		t.Errorf("questions: %q, want %q", prompter.questions, want)
	}
	config, err := os.ReadFile(filepath.Join(a.Dir, "PROJECT"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "controllerTools: operon\n"; !strings.Contains(string(config), want) || !strings.HasSuffix(out.String(), "nothing to do\n") {
		t.Errorf("PROJECT has no %q, or the last command has something to do:\n%s%s", want, config, out)
	}
}

func TestCreateHookPrompts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("hooks are for Linux")
	}
	a, _, out, errs := newProject(t)
	a.Dir = t.TempDir()
	if code := Run(t.Context(), a, []string{"init", "--domain", "example.org", "--plugins", "shell"}); code != 0 {
		t.Fatalf("init: exit code %d\n%s", code, errs)
	}
	prompter := &fakePrompter{t: t, answers: []string{"My Hook", "secrets", "Secert", "Secret"}}
	a.Prompt = prompter
	out.Reset()
	if code := Run(t.Context(), a, []string{"create", "hook", "--selector", "app in (a)", "--make=false"}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if len(prompter.answers) > 0 {
		t.Errorf("unused answers: %q", prompter.answers)
	}
	if !strings.Contains(out.String(), "create   hooks/secrets.sh") {
		t.Errorf("plan:\n%s", out)
	}
	const same = "operon create hook secrets --on kubernetes:Secret --selector 'app in (a)' --make=false\n"
	if !strings.Contains(errs.String(), same) {
		t.Errorf("the equivalent command line is missing:\n%s", errs)
	}
	// A complete command line results in no prompts. A kind of a hook project has no controller.
	for _, args := range [][]string{
		{"create", "hook", "secrets", "--on", "kubernetes:Secret", "--selector", "app in (a)", "--make=false"},
		{"create", "api", "--group", "g", "--version", "v1", "--kind", "Boat", "--make=false"},
	} {
		if code := Run(t.Context(), a, args); code != 0 {
			t.Errorf("%v: exit code %d\n%s", args, code, errs)
		}
	}
}

func TestCreateAPIPrompts(t *testing.T) {
	t.Parallel()
	a, prompter, out, errs := newProject(t, "ship", "1", "v1", "foo-bar", "Frigate", "y", "n")
	if code := Run(t.Context(), a, []string{"create", "api", "--make=false"}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if len(prompter.answers) > 0 {
		t.Errorf("unused answers: %q", prompter.answers)
	}
	if !strings.Contains(out.String(), "create   api/v1/frigate_types.go") || strings.Contains(out.String(), "internal/controller") {
		t.Errorf("plan:\n%s", out)
	}
	const same = "operon create api --make=false --group=ship --version=v1 --kind=Frigate --resource=true --controller=false"
	if !strings.Contains(errs.String(), same) {
		t.Errorf("the equivalent command line is missing:\n%s", errs)
	}

	// That command line results in no prompts and has nothing to do.
	out.Reset()
	if code := Run(t.Context(), a, strings.Fields(same)[1:]); code != 0 || out.String() != "nothing to do\n" {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

func TestCreateAPIPromptsOnlyForMissingFlags(t *testing.T) {
	t.Parallel()
	a, prompter, _, errs := newProject(t, "y")
	args := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--controller", "--make=false"}
	if code := Run(t.Context(), a, args); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if len(prompter.questions) != 1 || !strings.Contains(prompter.questions[0], "types") {
		t.Errorf("questions %q", prompter.questions)
	}
}

func TestCreateAPIPromptsForNothingThatIsKnown(t *testing.T) {
	t.Parallel()
	a, prompter, _, errs := newProject(t, "y", "y")
	kind := []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--make=false"}
	for _, more := range [][]string{{"--finalizer"}, nil, {"--owns", "core/v1/ConfigMap"}} {
		if code := Run(t.Context(), a, append(kind, more...)); code != 0 {
			t.Fatalf("%q: exit code %d\n%s", more, code, errs)
		}
		if len(prompter.questions) != 1 || !strings.Contains(prompter.questions[0], "types") {
			t.Errorf("%q: questions %q", more, prompter.questions)
		}
	}
}

func TestCreateWebhookPrompts(t *testing.T) {
	t.Parallel()
	a, prompter, out, errs := newProject(t, "defaulting")
	a.Prompt = nil
	if code := Run(t.Context(), a, []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--make=false"}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	a.Prompt = prompter
	if code := Run(t.Context(), a, []string{"create", "webhook", "--make=false"}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	const same = "operon create webhook --make=false --group=ship --kind=Frigate --version=v1 --defaulting=true --programmatic-validation=false --conversion=false"
	if !strings.Contains(errs.String(), same) {
		t.Errorf("the equivalent command line is missing:\n%s", errs)
	}
	out.Reset()
	if code := Run(t.Context(), a, strings.Fields(same)[1:]); code != 0 || out.String() != "nothing to do\n" {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if len(prompter.answers) > 0 {
		t.Errorf("unused answers: %q", prompter.answers)
	}
}

// TestCreateWebhookChoosesKind prompts for one of several kinds, and for the names of another one.
func TestCreateWebhookChoosesKind(t *testing.T) {
	t.Parallel()
	for args, answers := range map[string][]string{
		"":             {"ship/v1 Galleon", "ship/v1 Sloop", "defaulting"},
		"--kind Sloop": {"defaulting"},
		"--make=false": {"a kind of Kubernetes", "nothing", "core", "v1", "Pod", "defaulting"},
	} {
		a, prompter, _, errs := newProject(t, answers...)
		a.Prompt = nil
		for _, kind := range []string{"Frigate", "Sloop"} {
			if code := Run(t.Context(), a, []string{"create", "api", "--group", "ship", "--version", "v1", "--kind", kind, "--make=false"}); code != 0 {
				t.Fatalf("exit code %d\n%s", code, errs)
			}
		}
		a.Prompt = prompter
		if code := Run(t.Context(), a, append([]string{"create", "webhook", "--dry-run"}, strings.Fields(args)...)); code != 0 || len(prompter.answers) > 0 {
			t.Errorf("%s: exit code %d, unused answers %q\n%s", args, code, prompter.answers, errs)
		}
	}
}

// TestInitPrompts prompts for the domain of a new project.
func TestInitPrompts(t *testing.T) {
	t.Parallel()
	a, prompter, out, errs := newProject(t, "", "Example.org", "fleet.example")
	prompter.project = ""
	if code := Run(t.Context(), a, []string{"init", "--dry-run"}); code != 0 || len(prompter.questions) > 0 { // it exists
		t.Errorf("exit code %d, questions %q\n%s", code, prompter.questions, errs)
	}
	a.Dir = t.TempDir()
	for _, wrong := range []string{"--project-name=Fleet_", "--plugins=nothing"} {
		if code := Run(t.Context(), a, []string{"init", wrong}); code != 2 || len(prompter.questions) > 0 {
			t.Errorf("%s: exit code %d, questions %q\n%s", wrong, code, prompter.questions, errs)
		}
	}
	if code := Run(t.Context(), a, []string{"init", "--repo", "example.org/fleet", "--diff"}); code != 0 || len(prompter.answers) > 0 ||
		!strings.Contains(out.String(), "+domain: fleet.example") || !strings.Contains(errs.String(), "operon init --domain=fleet.example --diff --repo=example.org/fleet") ||
		strings.Contains(errs.String(), "my.domain") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}

func TestCreateAPIInterruptedAtPrompt(t *testing.T) {
	t.Parallel()
	a, prompter, out, errs := newProject(t)
	prompter.interrupt = true
	if code := Run(t.Context(), a, []string{"create", "api"}); code != 130 {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	if out.Len() > 0 || !strings.Contains(errs.String(), "error: interrupted") {
		t.Errorf("stdout %q, stderr %q", out, errs)
	}
}

// fullWriter fails like /dev/full.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestFullStdout(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate", "--make=false"},
		{"create", "api", "--group", "ship", "--version", "v1", "--kind", "Sloop", "--make=false", "--output", "json"},
		{"version"},
	} {
		a, _, _, errs := newProject(t)
		a.Prompt, a.Out = nil, fullWriter{}
		if code := Run(t.Context(), a, args); code != 1 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%v: exit code %d\n%s", args, code, errs)
		}
	}
}
