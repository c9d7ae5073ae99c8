package incremental_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/testkit/answers"
	"github.com/operon-dev/operon/internal/testkit/gentest"
	"github.com/operon-dev/operon/internal/testkit/peertest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// inAPI limits the run to what a broken API package can affect.
const inAPI = "crd object paths=./api/..."

// patch replaces the schemas of manifests, such as lions with versions.
const (
	patch = "schemapatch:manifests=manifests output:dir=manifests paths=./api/..."
	lions = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: lions.zoo.example.com}\nspec:\n  group: zoo.example.com\n  names: {kind: Lion}\n"
)

// broken are edits of the fixture that controller-gen reports as errors, or tolerates.
var broken = []struct {
	name  string
	files string
	args  string
}{
	{"syntax error", "-- api/v1/broken.go --\npackage v1\n\nfunc {\n\ntype X struct {\n", inAPI},
	{"syntax errors in two packages", "-- api/v1/broken.go --\npackage v1\nvar x = = 1\n-- internal/shared/b.go --\npackage shared\nfunc f( {\n", ""},
	{"package clause", "-- api/v1/broken.go --\npackag v1\n", ""},
	{"two package names", "-- api/v1/broken.go --\npackage other\n", inAPI},
	{"unused wrong type", "-- api/v1/wrong.go --\npackage v1\n\nvar x int = \"text\"\n", inAPI},
	{"wrong call in a body", "-- internal/controller/wrong.go --\npackage controller\n\nfunc f() { g(1, 2) }\n", ""},
	{"unknown type in a kind", "-- api/v2/groupversion_info.go --\n// +kubebuilder:object:generate=true\n// +groupName=zoo.example.com\npackage v2\n\n// S is used.\ntype S struct {\n\tMissing Nothing `json:\"missing\"`\n}\n", inAPI},
	{"package that is not imported yet", "-- api/v1/s.go --\npackage v1\n\n// S has.\ntype S struct {\n\tA []corev1.Container `json:\"a\"`\n}\n", inAPI},
	{"field without a tag", "-- api/v2/s.go --\npackage v2\n\ntype S struct {\n\tA string\n\tB chan int `json:\"b\"`\n}\n", inAPI},
	{"float", "-- api/v1/s.go --\npackage v1\n\n// MoreSpec is.\ntype MoreSpec struct {\n\tF float64 `json:\"f\"`\n}\n\nfunc init() {}\n", inAPI},
	{"unknown standard import", "-- api/v1/s.go --\npackage v1\n\nimport \"nosuch/pkg\"\n\nvar _ = pkg.X\n", ""},
	{"unknown module", "-- api/v1/s.go --\npackage v1\n\nimport \"example.net/no/such\"\n\nvar _ = such.X\n", ""},
	{"unknown package of the module", "-- api/v1/s.go --\npackage v1\n\nimport \"example.com/zoo/gone\"\n\nvar _ = gone.X\n", ""},
	{"import cycle", "-- internal/shared/cycle.go --\npackage shared\n\nimport _ \"example.com/zoo/api/v1\"\n", ""},
	{"marker arguments", "-- api/v1/s.go --\npackage v1\n\n// S has.\n// +kubebuilder:validation:Minimum=abc\n// +kubebuilder:resource:path=x,bogus=1\ntype S int\n\n// +kubebuilder:rbac:grups=apps,resources=x,verbs=get\n\nvar _ = 1\n", ""},
	{"no Go files", "-- docs/readme.md --\nhello\n", "crd paths=./docs"},
	{"unknown import path", "", "crd paths=example.com/zoo/none"},
	{"an unsupported version of CRDs", "", "crd:crdVersions=v1beta1 paths=./api/..."},
	{"CRDs of one good version", "", "crd:crdVersions=v1;v7 paths=./api/..."},
	{"a description that YAML cannot hold", "-- api/v1/s.go --\npackage v1\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n// Moodier has \x7f in it.\n// +kubebuilder:object:root=true\ntype Moodier struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n\n\t// A \x7f.\n\tA string `json:\"a\"`\n}\n", "crd paths=./api/..."},
	{"a patch of two versions, one without a type", "-- manifests/lions.yaml --\n" + lions + "  versions:\n    - {name: v1, schema: {openAPIV3Schema: {type: string}}} # v1\n    - name: v2\n    - {name: v0, schema: {}}\n  validation: {}\n---\n# nothing\n---\n", patch},
	{"a patch of an old CRD", "-- manifests/lions.yaml --\napiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n", patch},
	{"a patch of a schema that is a list", "-- manifests/lions.yaml --\n" + lions + "  versions: [{name: v1, schema: []}]\n", patch},
	{"a patch of versions without a name", "-- manifests/lions.yaml --\n" + lions + "  versions: [{name: v1}, {name: ''}]\n", patch},
	{"a patch of versions with and without a type, and without a name", "-- manifests/lions.yaml --\n" + lions + "  versions: [{name: v1}, {name: v2}, {name: ''}]\n", patch},
	{"a patch of no folder", "", "schemapatch:manifests=none output:dir=manifests paths=./api/..."},
	{"build constraints", "-- only/x.go --\n//go:build never\n\npackage only\n", "crd paths=./only"},
}

var noise = regexp.MustCompile(`(?m)^(Error: not all generators ran successfully|run .controller-gen .*)\n`)

// missingFolder matches an error about an import for which operon names the folder.
var missingFolder = regexp.MustCompile(`(:\d+:) no required module provides package example\.com/zoo/(\S+); to add it:\n\tgo get \S+`)

// TestSameErrorsAsControllerGen compares all errors, sorted by position and without
// duplicates, because controller-gen prints them in the order of a map. Cached packages
// and earlier records do not change them.
func TestSameErrorsAsControllerGen(t *testing.T) {
	t.Parallel()
	dependencies := t.TempDir() // a cache of dependencies only
	filled := store.Open(dependencies)
	for _, args := range []string{"crd object paths=./...", "crd paths=./api/..."} {
		newFast(t, gentest.Zoo(t), filled, strings.Fields(args)).run(t)
	}
	filled = copied(t, dependencies)
	for _, tt := range broken {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(tt.args)
			if len(args) == 0 {
				args = []string{"crd", "object", "rbac:roleName=r", "webhook"}
			}
			if !strings.Contains(tt.args, "paths=") {
				args = append(args, "paths=./...")
			}
			dir := gentest.Zoo(t)
			cfg := &project.Config{Plugins: map[string]any{request.ConfigKey: map[string]any{"args": args}}}
			run := func(dir string, s *store.Store) (*scaffold.Plan, error) {
				p := gentest.NewPlan(t, dir)
				return p, gen.Plan(t.Context(), request.Request{Dir: dir, Project: cfg, Store: s}, p)
			}
			lived := gentest.Zoo(t) // a project that was generated for before
			own := copied(t, dependencies)
			has := false
			for range 2 { // the second time, nothing changes
				p, err := run(lived, own)
				if has = err == nil; !has { // there may be no such folder yet
					break
				}
				apply(t, p)
			}
			edit(t, lived, tt.files)
			edit(t, dir, tt.files)
			plain, plainErr := run(dir, nil)
			kept, keptErr := run(dir, filled)
			want := controllerGen(t, dir, args)
			sameAnswer(t, plain, plainErr, want, dir)
			sameAnswer(t, kept, keptErr, want, dir)
			if !has {
				return // there is no record
			}
			recorded, recordedErr := run(lived, own)
			if diff := cmp.Diff(fmt.Sprint(keptErr), fmt.Sprint(recordedErr)); diff != "" {
				t.Errorf("(-from nothing +from the record):\n%s", diff)
			}
			if recordedErr == nil {
				apply(t, recorded)
				there := gentest.Tree(t, lived)
				for name, sum := range want.Files {
					if answers.Sum(there[name]) != sum {
						t.Errorf("from the record, %s is not the file that controller-gen writes", name)
					}
				}
			}
		})
	}
}

// copied returns a copy of a cache.
func copied(t *testing.T, cache string) *store.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.CopyFS(dir, os.DirFS(cache)); err != nil {
		t.Fatal(err)
	}
	return store.Open(dir)
}

// TestWrongDeclarations expects errors in declarations of types that controller-gen accepts, or
// on which it crashes: of two declarations it uses one. Programs in package main may share a
// folder.
func TestWrongDeclarations(t *testing.T) {
	t.Parallel()
	filled := store.Open(t.TempDir())
	newFast(t, gentest.Zoo(t), filled, strings.Fields("crd object paths=./...")).run(t)
	for name, tt := range map[string]struct{ files, want string }{
		"type": {"-- api/v1/a.go --\npackage v1\n\ntype Twice struct{}\n-- api/v1/b.go --\npackage v1\n\ntype Twice struct{}\n",
			"api/v1/b.go:3:6: Twice redeclared in this block; the other declaration is at api/v1/a.go:3:6"},
		"field": {"-- api/v1/a.go --\npackage v1\n\ntype S struct {\n\tA int `json:\"a\"`\n\tA string `json:\"a\"`\n}\n",
			"api/v1/a.go:5:2: A redeclared; the other declaration is at api/v1/a.go:4:2"},
		"recursion": {"-- api/v1/a.go --\npackage v1\n\ntype A struct {\n\tB B `json:\"b\"`\n}\n\ntype B struct {\n\tA A `json:\"a\"`\n}\n",
			"api/v1/a.go:3:6: invalid recursive type A; A refers to B; B refers to A"},
		"function":     {"-- api/v1/a.go --\npackage v1\n\nfunc f() {}\n-- api/v1/b.go --\npackage v1\n\nfunc f() {}\n", ""},
		"two programs": {"-- hack/x/a.go --\npackage main\n\ntype T struct{}\n-- hack/x/b.go --\npackage main\n\ntype T struct{}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gentest.Zoo(t)
			edit(t, dir, tt.files)
			for _, s := range []*store.Store{nil, filled} {
				p := gentest.NewPlan(t, dir)
				err := gen.Plan(t.Context(), request.Request{Dir: dir, Args: strings.Fields("crd object paths=./..."), Store: s}, p)
				got := ""
				if err != nil {
					got = err.Error()
				}
				if got != tt.want || err != nil && (fault.Code(err) != fault.CodeFailed || len(p.Changes()) > 0) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			}
		})
	}
}

// TestPatchOfSeveralDocuments expects an error for a file of which controller-gen silently keeps
// only the first document.
func TestPatchOfSeveralDocuments(t *testing.T) {
	t.Parallel()
	for _, rest := range []string{"kept: true\n", "---\nkept: true\n", "not: [YAML\n"} {
		dir := gentest.Zoo(t)
		edit(t, dir, "-- manifests/lions.yaml --\n"+lions+"  versions: [{name: v1}]\n---\n"+rest)
		p := gentest.NewPlan(t, dir)
		err := gen.Plan(t.Context(), request.Request{Dir: dir, Args: strings.Fields(patch)}, p)
		if err == nil || err.Error() != "manifests/lions.yaml: schemapatch would remove all YAML documents but the first" ||
			fault.HintOf(err) != "move the other documents to files of their own" || len(p.Changes()) > 0 {
			t.Errorf("%q: %v, hint %q", rest, err, fault.HintOf(err))
		}
	}
}

func apply(t *testing.T, p *scaffold.Plan) {
	t.Helper()
	if err := p.Apply(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// verdict is what controller-gen does with a project.
type verdict struct {
	Files    map[string]string `json:",omitempty"` // checksums of those that it writes, if it succeeds
	Messages []string          `json:",omitempty"` // checksums of its errors
	Crashes  bool              `json:",omitempty"`
}

// controllerGen returns what is recorded about a run of controller-gen.
func controllerGen(t *testing.T, dir string, args []string) verdict {
	t.Helper()
	q := gentest.Question(t, dir, args...)
	return answers.Ask(t, gentest.AnswerName(t), peertest.Recorded(t, "controller-gen", q), func() verdict {
		a := peertest.Find(t, "controller-gen").Run(t, q)
		if a.Code == 0 {
			return verdict{Files: answers.Sums(a.Written)}
		}
		text := aboutGenerated.ReplaceAllString(noise.ReplaceAllString(a.Stderr, ""), "")
		text = missingFolder.ReplaceAllString(text, "$1 the folder $2 of this import does not exist")
		return verdict{Crashes: strings.Contains(a.Stderr, "panic: "), Messages: sums(messages(strings.ReplaceAll(text, peertest.Folder+"/", "")))}
	})
}

// sums returns the checksums of lines.
func sums(lines []string) (all []string) {
	for _, line := range lines {
		all = append(all, answers.Sum(line))
	}
	return all
}

// sameAnswer compares a plan, or its error, with what controller-gen wrote or reported.
func sameAnswer(t *testing.T, p *scaffold.Plan, err error, want verdict, dir string) {
	t.Helper()
	if len(want.Messages) == 0 {
		if err != nil {
			t.Fatalf("only operon reports an error:\n%v", err)
		}
		if diff := cmp.Diff(want.Files, answers.Sums(gentest.Generated(p))); diff != "" {
			t.Errorf("(-controller-gen +operon):\n%s", diff)
		}
		return
	}
	if err == nil {
		t.Fatal("only controller-gen reports an error")
	}
	if code := fault.Code(err); code != fault.CodeFailed {
		t.Errorf("exit code %d", code)
	}
	if len(p.Changes()) > 0 || len(p.Warnings()) > 0 {
		t.Errorf("planned although there are errors: %v", p.Changes())
	}
	if want.Crashes {
		return // an error is the better answer
	}
	if diff := cmp.Diff(want.Messages, sums(messages(ofWebhook.ReplaceAllString(err.Error(), "")))); diff != "" {
		t.Errorf("%v\nchecksums of messages (-controller-gen +operon):\n%s", err, diff)
	}
	var problems load.Problems
	if !errors.As(err, &problems) {
		t.Errorf("error is a %T", err)
	}
	for i, q := range problems {
		if q.File == "" {
			continue
		}
		if _, err := os.Stat(path.Join(dir, q.File)); err != nil {
			t.Errorf("the file of %q does not exist: %v", q, err)
		}
		if i > 0 && problems[i-1].File == "" {
			t.Errorf("%q comes after %q, which has no position", q, problems[i-1])
		}
	}
}

// aboutGenerated are messages about code that was generated from unknown types.
var aboutGenerated = regexp.MustCompile(`(?m)^\d+:\d+: .*\n`)

var ofWebhook = regexp.MustCompile(`^\S+w\.go:\d+:\d+: `) // positions that controller-gen does not have

// messages splits output into lines, without the dash for an unknown position, as in "-:
// no Go files" and "example.com/x:-: unknown type".
func messages(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		lines[i] = strings.Replace(strings.TrimPrefix(l, "-: "), ":-: ", ": ", 1)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}
