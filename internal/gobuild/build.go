// Package gobuild builds programs of other projects from Go modules whose versions operon pins, with
// the user's go command.
package gobuild

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
)

// Program is a program and its main package.
type Program struct{ Name, Package string }

// Build describes what to build, and where.
type Build struct {
	Env      []string // of the go command, in the form of os.Environ
	Work     string   // a folder for temporary files, on the same disk as Bin
	Bin      string   // the folder of the programs
	Mod, Sum []byte   // the module: go.mod and go.sum
	Programs []Program
	LDFlags  string
	Title    string // what is built, for messages: "the control plane"
	// Instead is what users can do without a build, as the end of a hint: "name a program with --engine".
	Instead  string
	Progress func(line string) // or nil
}

// Run compiles the programs. It runs the go command once for all of them, so that no core is idle
// while one program is linked. The caller removes the files in Work. When ctx ends, Run ends the go
// command and its children, and the error wraps the cause of ctx.
func (b Build) Run(ctx context.Context) error {
	module, tmp := filepath.Join(b.Work, "module"), filepath.Join(b.Work, "tmp")
	for _, dir := range []string{module, tmp, b.Bin} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fault.In("build "+b.Title, err)
		}
	}
	for name, content := range map[string][]byte{"go.mod": b.Mod, "go.sum": b.Sum} {
		if err := os.WriteFile(filepath.Join(module, name), content, 0o644); err != nil {
			return fault.In("build "+b.Title, err)
		}
	}
	g, err := b.newCommand(ctx, module, tmp)
	if err != nil {
		return err
	}
	out := b.newOutput()
	stop := b.report(out)
	args := []string{"build", "-v", "-ldflags", b.LDFlags, "-o", b.Bin + string(filepath.Separator)}
	for _, p := range b.Programs {
		args = append(args, p.Package)
	}
	err = g.run(ctx, nil, out, args...)
	stop()
	if err != nil {
		return err
	}
	for _, p := range b.Programs {
		if err := os.Rename(b.built(p), filepath.Join(b.Bin, Executable(p.Name))); err != nil {
			return fault.In("build "+b.Title, err)
		}
	}
	return nil
}

var majorSuffix = regexp.MustCompile(`/v[0-9]+$`)

// built returns the path that the go command gives to a program.
func (b Build) built(p Program) string {
	return filepath.Join(b.Bin, Executable(path.Base(majorSuffix.ReplaceAllString(p.Package, ""))))
}

// Executable returns the file name of a program on this system.
func Executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// ReportEvery is the time between two progress lines.
const ReportEvery = 10 * time.Second

// report reports the progress of a build: every program that is linked, and in between what the go
// command has done so far. stop reports what is left and ends it.
func (b Build) report(out *output) (stop func()) {
	if b.Progress == nil {
		return func() {}
	}
	start := time.Now()
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		poll := time.NewTicker(500 * time.Millisecond)
		defer poll.Stop()
		left, next := slices.Clone(b.Programs), ReportEvery
		for running := true; running; {
			select {
			case <-poll.C:
			case <-quit:
				running = false
			}
			elapsed := time.Since(start)
			left = slices.DeleteFunc(left, func(p Program) bool {
				_, err := os.Stat(b.built(p))
				if err == nil {
					b.Progress(fmt.Sprintf("%s is built (%s)", p.Name, elapsed.Round(time.Second)))
				}
				return err == nil
			})
			if running && elapsed >= next {
				b.Progress(fmt.Sprintf("still building %s%s (%s)", names(left), out.counts(), elapsed.Round(time.Second)))
				next += ReportEvery
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// names joins the names of programs with commas and "and".
func names(programs []Program) string {
	var all []string
	for _, p := range programs {
		all = append(all, p.Name)
	}
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	}
	return strings.Join(all, "")
}
