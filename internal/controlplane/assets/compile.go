package assets

import (
	"context"
	_ "embed"
	"fmt"

	"golang.org/x/mod/modfile"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gobuild"
	"github.com/operon-dev/operon/internal/pins"
)

// The module in which the control plane is built. Its files have other names because a folder with a
// go.mod cannot be embedded.
var (
	//go:embed module/go.mod.txt
	goMod []byte
	//go:embed module/go.sum.txt
	goSum []byte
)

// etcdModule is the module whose main package is etcd.
const etcdModule = "go.etcd.io/etcd/server/v3"

// mainPackage returns the main package of a program.
func mainPackage(program string) string {
	if program == "etcd" {
		return etcdModule
	}
	return "k8s.io/kubernetes/cmd/" + program
}

// compile builds the named programs into bin, a folder below dir.
func compile(ctx context.Context, env []string, dir, bin string, names []string, progress Progress) error {
	progress.report(fmt.Sprintf("building %s for Kubernetes %s from Go modules (the first build takes minutes)", list(names), pins.Kubernetes))
	b := gobuild.Build{
		Env: env, Work: dir, Bin: bin, Mod: goMod, Sum: goSum, LDFlags: ldflags(), Progress: progress,
		Title: "the control plane", Instead: "point " + Var + " at a folder with " + list(programs),
	}
	for _, name := range names {
		b.Programs = append(b.Programs, gobuild.Program{Name: name, Package: mainPackage(name)})
	}
	return b.Run(ctx)
}

// ldflags returns linker flags that strip the programs and set their version.
// Without a version, kube-apiserver reports v0.0.0-master+$Format:%H$, which clients
// cannot parse.
func ldflags() string {
	const pkg = "k8s.io/component-base/version."
	v := pinned()
	return fmt.Sprintf("-s -w -X %[1]sgitVersion=v%[2]s -X %[1]sgitMajor=%[3]d -X %[1]sgitMinor=%[4]d", pkg, v, v.major, v.minor)
}

// etcdVersion returns the version of etcd in the module, without the "v".
func etcdVersion() (string, error) {
	file, err := modfile.ParseLax("go.mod", goMod, nil)
	if err != nil {
		return "", fault.In("envtest module", err)
	}
	for _, r := range file.Require {
		if r.Mod.Path == etcdModule {
			return r.Mod.Version[1:], nil
		}
	}
	return "", fault.Failed("report this as a bug of operon", "envtest module: no version of %s", etcdModule)
}
