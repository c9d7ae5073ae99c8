package runcmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/watch"
)

// runtimeFolder is the folder of the Go module that runs the charts of a project.
const runtimeFolder = "runtime"

// chartProgram returns the program that runs the charts of a Helm project: the project's, or, for
// a project that uses an image, the same program in the cache.
func (o *options) chartProgram(a *command.App, p command.Project) (*program, error) {
	files, err := o.ChartRuntime(p.Config)
	if err != nil {
		return nil, err
	}
	prog := &program{
		path:     binary(p.Root),
		args:     []string{"--metrics-bind-address=0", "--health-probe-bind-address=0", "--zap-devel"}, // as make run does
		isSource: func(file string) bool { return isBelow(file, []string{runtimeFolder}) && watch.IsSource(file) },
		inputs:   chartInputs(), remove: func() {}, env: []string{"CGO_ENABLED=0"},
	}
	source := p.Root
	if len(files) > 0 {
		if source, prog.remove, err = writeSource(a, files); err != nil {
			return nil, err
		}
		prog.path = binary(source)
		prog.note = "the project uses an image, so the program of --runtime module runs the charts. Objects get its finalizer, which the image does not remove: delete the objects before you deploy the image"
	}
	prog.build = []string{"-C", filepath.Join(source, runtimeFolder), "-trimpath", "-o", prog.path, "."}
	return prog, nil
}

// chartInputs returns a function that lists watches.yaml and its charts. While the file is invalid, it
// lists the charts of before.
func chartInputs() func(context.Context, *command.App) inputs {
	last := inputs{data: []string{watches.File}}
	return func(_ context.Context, a *command.App) inputs {
		src, err := input.ReadFile(filepath.Join(a.Dir, watches.File), input.Text)
		if err != nil {
			return last
		}
		list, err := watches.Read(src, func(string) bool { return true })
		if err != nil {
			return last
		}
		last = inputs{data: []string{watches.File}}
		for _, w := range list {
			last.data = append(last.data, w.Chart)
		}
		return last
	}
}

// writeSource writes the source of a program to a folder of the cache, where the next run finds what
// was built. If the cache is off, it writes to a temporary folder, which remove removes.
func writeSource(a *command.App, files map[string][]byte) (folder string, remove func(), err error) {
	cache, err := a.CacheDir()
	if err != nil {
		return "", nil, err
	}
	folder, remove = filepath.Join(cache, "run", digest(files)), func() {}
	if cache == "" {
		if folder, err = os.MkdirTemp("", "operon-run-"); err != nil {
			return "", nil, fault.Failed(command.HintTemp, "cannot create a folder for the program that runs the charts: %v", err)
		}
		remove = func() { _ = os.RemoveAll(folder) } // a leftover temporary folder does no harm
	}
	for name, content := range files {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
			err = os.WriteFile(file, content, 0o644)
		}
		if err != nil {
			remove()
			return "", nil, fault.Failed(command.HintTemp, "cannot write the program that runs the charts: %v", err)
		}
	}
	return folder, remove, nil
}

// digest returns a name for the content of files.
func digest(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%q %q", name, files[name]) //nolint:errcheck // a hash accepts all writes
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
