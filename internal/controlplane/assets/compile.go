package assets

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

//go:embed module
var moduleFiles embed.FS

// etcdModule is the module whose main package is etcd.
const etcdModule = "go.etcd.io/etcd/server/v3"

// mainPackage returns the main package of a program.
func mainPackage(program string) string {
	if program == "etcd" {
		return etcdModule
	}
	return "k8s.io/kubernetes/cmd/" + program
}

// goName returns the file name that go gives a program.
func goName(program string) string {
	return path.Base(strings.TrimSuffix(mainPackage(program), "/v3"))
}

// reportEvery is the time between two lines of progress while go runs.
const reportEvery = 10 * time.Second

// compile builds the named programs into bin, below stage, all in one go command
// so that every core has work up to the last link.
func compile(ctx context.Context, env environ, stage, bin string, names []string, progress Progress) error {
	module, tmp := filepath.Join(stage, "module"), filepath.Join(stage, "tmp")
	for _, dir := range []string{module, tmp, bin} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fault.In("envtest store", err)
		}
	}
	if err := writeModule(module); err != nil {
		return err
	}
	g, err := newGoCommand(ctx, env, module, tmp)
	if err != nil {
		return err
	}
	progress.say(fmt.Sprintf("building %s for Kubernetes %s from Go modules (minutes the first time)", list(names), pins.Kubernetes))
	out := &goOutput{}
	stop := report(bin, names, out, progress)
	args := []string{"build", "-v", "-ldflags", ldflags(), "-o", bin + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, mainPackage(name))
	}
	err = g.run(ctx, nil, out, args...)
	stop()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Rename(Program(bin, goName(name)), Program(bin, name)); err != nil {
			return fault.In("envtest store", err)
		}
	}
	return nil
}

// writeModule writes the embedded module to disk for go.
func writeModule(dir string) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := moduleFiles.ReadFile("module/" + name + ".txt")
		if err != nil {
			return fault.In("envtest module", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fault.In("envtest module", err)
		}
	}
	return nil
}

// ldflags strip the programs and tell them their version: without it
// kube-apiserver is v0.0.0-master+$Format:%H$ and clients refuse to compare.
func ldflags() string {
	const pkg = "k8s.io/component-base/version."
	v := pinned()
	return fmt.Sprintf("-s -w -X %[1]sgitVersion=v%[2]s -X %[1]sgitMajor=%[3]d -X %[1]sgitMinor=%[4]d", pkg, v, v.major, v.minor)
}

// etcdVersion is the etcd that the embedded module names, without the v.
func etcdVersion() (string, error) {
	content, err := moduleFiles.ReadFile("module/go.mod.txt")
	if err != nil {
		return "", fault.In("envtest module", err)
	}
	file, err := modfile.ParseLax("go.mod", content, nil)
	if err != nil {
		return "", fault.In("envtest module", err)
	}
	for _, r := range file.Require {
		if r.Mod.Path == etcdModule {
			return r.Mod.Version[1:], nil
		}
	}
	return "", fault.Failed("", "envtest module: no version of %s", etcdModule)
}

// report tells about a running build: each program when it is linked, and in
// between how far go has come. The returned function ends it, with a last look.
func report(bin string, names []string, out *goOutput, progress Progress) (stop func()) {
	start := time.Now()
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		poll := time.NewTicker(500 * time.Millisecond)
		defer poll.Stop()
		linked, next := map[string]bool{}, reportEvery
		for running := true; running; {
			select {
			case <-poll.C:
			case <-quit:
				running = false
			}
			elapsed := time.Since(start)
			for _, name := range names {
				if linked[name] || !isFile(Program(bin, goName(name))) {
					continue
				}
				linked[name] = true
				progress.say(fmt.Sprintf("%s is built (%s)", name, elapsed.Round(time.Second)))
			}
			if running && elapsed >= next {
				left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return linked[name] })
				line := "still building " + list(left)
				if counts := out.counts(); counts != "" {
					line += ": " + counts
				}
				progress.say(fmt.Sprintf("%s (%s)", line, elapsed.Round(time.Second)))
				next += reportEvery
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// isFile reports whether path exists.
func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
