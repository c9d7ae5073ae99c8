// Package othertools generates with another version of controller-tools than the one in this
// program: it runs controller-gen of that version by go run, which may download it.
//
// controller-gen writes files itself, and reads them from the disk. It therefore runs in a copy of
// the project that has the changes of the plan. What it writes there becomes part of the plan.
package othertools

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/projectcopy"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/input"
)

// Tools is controller-gen of one version, and a copy of a project.
type Tools struct {
	version string
	*projectcopy.Copy
}

// New copies the project.
func New(ctx context.Context, version string, files *overlay.Project) (*Tools, error) {
	c, err := projectcopy.New(ctx, files)
	return &Tools{version, c}, err
}

// Run runs controller-gen with the arguments of a job.
func (t *Tools) Run(ctx context.Context, _ *overlay.Project, job *request.Job) (*output.Result, error) {
	progress.From(ctx)("running controller-gen "+t.version, 0, 0)
	before, err := t.Stats()
	if err != nil {
		return nil, err
	}
	program := controllertools.Module + "/cmd/controller-gen@" + t.version
	cmd := environ.Command(ctx, t.Dir, environ.With(job.Environ, "PWD="+t.Dir), "go", append([]string{"run", program}, job.Args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, t.failed(program, t.message(stderr.String(), err))
	}
	res := &output.Result{Way: "controller-gen " + t.version, Matched: true, Folders: t.Folders}
	if stdout.Len() > 0 {
		res.Outputs = append(res.Outputs, generate.Output{Content: stdout.Bytes()})
	}
	return res, t.collect(before, job, res)
}

// failed returns the error of a program that printed a message: the go command could not find or build it, or it ran.
func (t *Tools) failed(program, message string) error {
	const own = "operon generate --controller-tools " + request.OwnTools
	first, _, _ := strings.Cut(message, "\n")
	contains := func(text string) bool { return strings.Contains(message, text) }
	switch {
	case !controllertools.BuildsWithNewGo(t.version) && contains("golang.org/x/tools/"):
		return fault.Failed(fmt.Sprintf("generate with %[1]s, the first version that does: operon generate --controller-tools %[1]s; or with the version in operon: %[2]s; "+
			"or with an older Go, as in GOTOOLCHAIN=go1.24.0", controllertools.FirstForGo125, own),
			"controller-tools %s does not build with Go 1.25 and later versions", t.version)
	case !strings.HasPrefix(first, "go: "+program+": "):
		return fault.Failed("generate with the version in operon: "+own, "go run %s: %s", program, message)
	case slices.ContainsFunc([]string{"unknown revision", "invalid version", "404 Not Found", "410 Gone", "403 Forbidden"}, contains):
		return fault.Failed("choose one of https://github.com/kubernetes-sigs/controller-tools/releases, or the version in operon: "+own,
			"controller-tools has no version %s, or GOPROXY does not serve it", t.version)
	}
	return fault.Failed("the go command downloads it once; or generate with the version in operon: "+own,
		"cannot download controller-tools %s: %s", t.version, first[strings.LastIndex(first, ": ")+len(": "):])
}

// message returns what controller-gen printed, with paths relative to the project.
func (t *Tools) message(stderr string, err error) string {
	text := strings.TrimSpace(strings.ReplaceAll(stderr, t.Dir+string(filepath.Separator), ""))
	if text == "" {
		return err.Error()
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.HasPrefix(l, "go: downloading ") })
	return strings.Join(lines[:min(len(lines), maxLines)], "\n")
}

// maxLines limits how much of the output of controller-gen is part of an error.
const maxLines = 10

// collect adds the files that controller-gen wrote to the result.
func (t *Tools) collect(before map[string]projectcopy.Stat, job *request.Job, res *output.Result) error {
	after, err := t.Stats()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] == after[name] {
			continue
		}
		content, err := input.ReadFile(filepath.Join(t.Dir, filepath.FromSlash(name)), input.Data)
		if err != nil {
			return err
		}
		res.Outputs = append(res.Outputs, generate.Output{Generator: generatorOf(job, name, content), Path: name, Content: content})
	}
	return nil
}

// generatorOf returns the generator of a job that wrote a file.
func generatorOf(job *request.Job, name string, content []byte) string {
	has := func(line string) bool { return bytes.Contains(content, []byte("\n"+line)) }
	switch {
	case job.Generators[0].Name == request.ApplyConfigurations: // it runs alone
		return request.ApplyConfigurations
	case path.Ext(name) == ".go":
		return "object"
	case has("kind: ClusterRole"), has("kind: Role"):
		return "rbac"
	case has("kind: MutatingWebhookConfiguration"), has("kind: ValidatingWebhookConfiguration"):
		return "webhook"
	}
	for _, g := range job.Generators {
		if g.Name == "schemapatch" {
			return g.Name
		}
	}
	return "crd"
}
