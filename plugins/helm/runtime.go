package helm

import (
	"io/fs"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/helm/watches"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

var runtimes = []string{project.ImageRuntime, project.ModuleRuntime}

const dockerfile = "Dockerfile"

// runtimeOf returns what runs the charts of a project.
func runtimeOf(c *project.Config) (string, error) {
	name, err := c.ChartRuntime()
	if err != nil {
		return "", err
	}
	return name, project.InPluginConfig(Key, checkRuntime(name))
}

func checkRuntime(name string) error {
	if slices.Contains(runtimes, name) {
		return nil
	}
	return fault.Usage("valid values: image, module", "unknown runtime %q", name)
}

// setRuntime records what runs the charts. The default is not recorded.
func setRuntime(c *project.Config, name string) {
	if name == project.ImageRuntime {
		c.SetPluginKey(Key, "runtime", nil)
		return
	}
	c.SetPluginKey(Key, "runtime", name)
}

// chooseRuntime records the runtime that the user of init chose.
func chooseRuntime(e plugin.Event, p *scaffold.Plan) error {
	next := e.String("runtime")
	if next == "" {
		return nil
	}
	if err := checkRuntime(next); err != nil {
		return err
	}
	have, err := runtimeOf(e.Project)
	if err != nil || have == next {
		return err
	}
	if p.OnDisk(watches.File) {
		return fault.Usage("use operon edit --runtime "+next, "already initialized with --runtime %s", have)
	}
	setRuntime(e.Project, next)
	return nil
}

// editRuntime replaces what runs the charts. The files of init that depend on it follow, if operon
// wrote them.
func editRuntime(e plugin.Event, p *scaffold.Plan) error {
	next := e.String("runtime")
	if next == "" {
		return nil
	}
	if err := checkRuntime(next); err != nil {
		return err
	}
	have, err := runtimeOf(e.Project)
	if err != nil || have == next {
		return err
	}
	setRuntime(e.Project, next)
	if p.OnDisk(dockerfile) && !p.HasBase(dockerfile) {
		p.Warn(scaffold.Warning{File: dockerfile, Rule: "kept", Message: "another tool wrote it, so it still builds the previous runtime"})
	}
	if next == project.ModuleRuntime {
		return planRuntime(e.Project, p)
	}
	old := map[string][]byte{}
	err = runtimeFiles(p.Templates(templates.FS), e.Project, func(name string, _ fs.FileMode, content []byte) error {
		old[name] = content
		return nil
	})
	if err != nil {
		return err
	}
	return p.Discard(old)
}

// planRuntime plans the Go module that runs the charts. The user and the go command maintain its
// requirements.
func planRuntime(c *project.Config, p *scaffold.Plan) error {
	return runtimeFiles(p.Templates(templates.FS), c, func(name string, mode fs.FileMode, content []byte) error {
		if path.Ext(name) == ".go" {
			return p.Seed(name, mode, content)
		}
		return p.Share(name, mode, content)
	})
}

// LocalRuntime returns the Go module that runs the charts of a project which uses an image, with the
// paths that it has in other projects. It has no files if the project has the module itself.
func LocalRuntime(c *project.Config) (map[string][]byte, error) {
	files := map[string][]byte{}
	if name, err := runtimeOf(c); err != nil || name == project.ModuleRuntime {
		return files, err
	}
	err := runtimeFiles(templates.FS, c, func(name string, _ fs.FileMode, content []byte) error {
		files[name] = content
		return nil
	})
	return files, err
}

func runtimeFiles(fsys fs.FS, c *project.Config, sink render.Sink) error {
	return render.Tree(fsys, "helm/runtime", nil, values{Project: c}, sink)
}
