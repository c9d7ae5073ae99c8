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

// goName returns the file name that the go command gives to a program.
func goName(program string) string {
	return path.Base(strings.TrimSuffix(mainPackage(program), "/v3"))
}

// reportEvery is the time between two progress lines.
const reportEvery = 10 * time.Second

// compile builds the named programs into bin, a folder below dir. It runs the go
// command once for all of them, so that no core is idle while one program is linked.
func compile(ctx context.Context, env environ, dir, bin string, names []string, progress Progress) error {
	module, tmp := filepath.Join(dir, "module"), filepath.Join(dir, "tmp")
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
	progress.report(fmt.Sprintf("building %s for Kubernetes %s from Go modules (the first build takes minutes)", list(names), pins.Kubernetes))
	out := &goOutput{}
	stop := reportBuild(bin, names, out, progress)
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

// writeModule writes the embedded module to a folder.
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

// ldflags returns linker flags that strip the programs and set their version.
// Without a version, kube-apiserver reports v0.0.0-master+$Format:%H$, which clients
// cannot parse.
func ldflags() string {
	const pkg = "k8s.io/component-base/version."
	v := pinned()
	return fmt.Sprintf("-s -w -X %[1]sgitVersion=v%[2]s -X %[1]sgitMajor=%[3]d -X %[1]sgitMinor=%[4]d", pkg, v, v.major, v.minor)
}

// etcdVersion returns the version of etcd in the embedded module, without the "v".
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

// reportBuild reports the progress of a build: every program that is linked, and in
// between what the go command has done so far. stop reports what is left and ends it.
func reportBuild(bin string, names []string, out *goOutput, progress Progress) (stop func()) {
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
				if linked[name] || !exists(Program(bin, goName(name))) {
					continue
				}
				linked[name] = true
				progress.report(fmt.Sprintf("%s is built (%s)", name, elapsed.Round(time.Second)))
			}
			if running && elapsed >= next {
				left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return linked[name] })
				line := "still building " + list(left)
				if counts := out.counts(); counts != "" {
					line += ": " + counts
				}
				progress.report(fmt.Sprintf("%s (%s)", line, elapsed.Round(time.Second)))
				next += reportEvery
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// exists reports whether path exists.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
