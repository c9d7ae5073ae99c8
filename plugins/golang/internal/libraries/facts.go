// Package libraries knows which generated code needs newer libraries than a project may have.
package libraries

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// oldest is the oldest version of controller-runtime that templates have code for. It belongs to
// Kubernetes 0.29.
const oldest = "v0.17.0"

const (
	apimachinery      = "k8s.io/apimachinery"
	controllerRuntime = "sigs.k8s.io/controller-runtime"
	admission         = controllerRuntime + "/pkg/webhook/admission"
	goLanguage        = "go" // the language and its standard library; the go directive has its version
)

// Facts say which of the needs a project meets, by the names of facts. Templates choose
// code by them.
type Facts map[string]bool

// factsOf returns the facts about a project. One that does not require controller-runtime
// gets the newest libraries.
func factsOf(have versions) Facts {
	facts := Facts{}
	for _, n := range needs {
		if n.fact != "" {
			facts[n.fact] = have[controllerRuntime] == "" || !n.isMissingIn(have)
		}
	}
	return facts
}

// CheckOldest returns an error if the libraries of the project are older than all that templates
// know.
func (v Values) CheckOldest() error {
	if version := v.have[controllerRuntime]; version != "" && semver.Compare(version, oldest) < 0 {
		return fault.Usage("run `go get "+controllerRuntime+"@"+oldest+" && go mod tidy`, or a later version, and repeat the command",
			"go.mod has %s %s: operon writes code for %s and later versions", controllerRuntime, version, oldest)
	}
	return nil
}

// versions are the versions in a go.mod file, by module. One that is replaced by a folder has no
// version, so it counts as new enough.
type versions map[string]string

// readVersions returns no versions if there is no go.mod that parses: other code creates it, or the
// go command reports the mistake.
func readVersions(p *scaffold.Plan) (versions, error) {
	src, err := p.Read(modules.GoMod)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	return versionsIn(src), nil
}

func versionsIn(goMod []byte) versions {
	have := versions{}
	f, err := modfile.Parse(modules.GoMod, goMod, nil)
	if err != nil {
		return have
	}
	if f.Go != nil {
		have[goLanguage] = "v" + f.Go.Version
	}
	for _, r := range f.Require {
		have[r.Mod.Path] = r.Mod.Version
	}
	if have[apimachinery] == "" {
		have[apimachinery] = kubernetesOf(have[controllerRuntime])
	}
	for _, r := range f.Replace {
		if have[r.Old.Path] != "" {
			have[r.Old.Path] = r.New.Version
		}
	}
	return have
}

// kubernetesOf returns the version of the Kubernetes libraries that a version of controller-runtime v0 requires, or "".
// The minor version of Kubernetes has always been 12 more.
func kubernetesOf(version string) string {
	minor, ok := strings.CutPrefix(semver.MajorMinor(version), "v0.")
	n, err := strconv.Atoi(minor)
	if !ok || err != nil {
		return ""
	}
	return fmt.Sprintf("v0.%d.0", n+12)
}

// CheckApply returns an error if the libraries of the project are too old for apply configurations.
func (v Values) CheckApply() error {
	for _, n := range needs {
		if n.fact == "Apply" && n.isMissingIn(v.have) {
			return fault.Usage("run `go get "+n.module+"@"+n.version+" && go mod tidy`, or a later version, and repeat the command",
				"--ssa needs %s %s (go.mod has %s)", n.module, n.version, v.have[n.module])
		}
	}
	return nil
}
