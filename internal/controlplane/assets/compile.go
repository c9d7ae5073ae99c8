package assets

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
)

//go:embed module
var moduleFiles embed.FS

// etcdModule is the module whose main package is etcd. go names the program
// after the module's last element that is no version, "server".
const etcdModule = "go.etcd.io/etcd/server/v3"

// packages are the main packages to build, all in one go command so that every
// core has work up to the last link.
var packages = []string{etcdModule, "k8s.io/kubernetes/cmd/kube-apiserver", "k8s.io/kubernetes/cmd/kubectl"}

// reportEvery is the time between two lines of progress while go runs.
const reportEvery = 10 * time.Second

// compile builds the programs into bin, below stage.
func compile(ctx context.Context, env environ, stage, bin string, progress Progress) error {
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
	progress(fmt.Sprintf("building %s for Kubernetes %s from Go modules (minutes the first time)", list(programs), pins.Kubernetes))
	out := &goOutput{}
	stop := report(bin, out, progress)
	args := append([]string{"build", "-v", "-ldflags", ldflags(), "-o", bin + string(filepath.Separator)}, packages...)
	err = g.run(ctx, nil, out, args...)
	stop()
	if err != nil {
		return err
	}
	server, etcd := filepath.Join(bin, executable("server")), filepath.Join(bin, executable("etcd"))
	return fault.In("envtest store", os.Rename(server, etcd))
}

// writeModule puts the embedded module where go finds it.
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
func report(bin string, out *goOutput, progress Progress) (stop func()) {
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
			for _, name := range newlyLinked(bin, linked) {
				progress(fmt.Sprintf("%s is built (%s)", name, elapsed.Round(time.Second)))
			}
			if running && elapsed >= next {
				line := "still building " + list(unlinked(linked))
				if counts := out.counts(); counts != "" {
					line += ": " + counts
				}
				progress(fmt.Sprintf("%s (%s)", line, elapsed.Round(time.Second)))
				next += reportEvery
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// newlyLinked marks and returns the programs that appeared in bin.
func newlyLinked(bin string, linked map[string]bool) (names []string) {
	for _, name := range programs {
		file := name
		if name == "etcd" {
			file = "server"
		}
		if _, err := os.Stat(filepath.Join(bin, executable(file))); err == nil && !linked[name] {
			linked[name] = true
			names = append(names, name)
		}
	}
	return names
}

// unlinked returns the programs that are still to come.
func unlinked(linked map[string]bool) (names []string) {
	for _, name := range programs {
		if !linked[name] {
			names = append(names, name)
		}
	}
	return names
}
