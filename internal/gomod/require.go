package gomod

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Files are the contents of go.mod and go.sum.
type Files struct{ Mod, Sum []byte }

// Require returns go.mod and go.sum of the project, with the module of a package
// and its requirements added. pkg is import path@version. It is not the path of a module,
// because the go command would then also require what a program in the module's root
// folder needs. With tidy, Require also runs `go mod tidy` for the planned Go files.
// Require changes only copies of the files. The error names what is missing in the module
// cache.
func (g Go) Require(ctx context.Context, p *scaffold.Plan, have Files, pkg string, tidy bool) (Files, error) {
	get := func(mod, overlay string) []string {
		return []string{"get", "-modfile=" + mod, "-overlay=" + overlay, pkg}
	}
	if !tidy {
		return g.change(ctx, p, have, get)
	}
	return g.change(ctx, p, have, get, tidying)
}

// Tidy returns go.mod and go.sum of the project after `go mod tidy` for the planned Go
// files. Like Require, it changes only copies.
func (g Go) Tidy(ctx context.Context, p *scaffold.Plan, have Files) (Files, error) {
	return g.change(ctx, p, have, tidying)
}

// Complete returns go.mod and go.sum of the project with the requirements that they lack for
// the packages in some folders, with the planned Go files. Like Require, it changes only copies.
func (g Go) Complete(ctx context.Context, p *scaffold.Plan, have Files, folders []string) (Files, error) {
	return g.change(ctx, p, have, func(mod, overlay string) []string {
		args := []string{"list", "-modfile=" + mod, "-overlay=" + overlay, "-deps", "-test"}
		for _, folder := range folders {
			args = append(args, "./"+folder)
		}
		return args
	})
}

// goArguments returns the arguments of a go command that changes the copy mod of go.mod. overlay is
// the file that makes it read the planned Go files.
type goArguments func(mod, overlay string) []string

func tidying(mod, overlay string) []string {
	return []string{"mod", "tidy", "-modfile=" + mod, "-overlay=" + overlay}
}

// change runs go commands that change copies of the files.
func (g Go) change(ctx context.Context, p *scaffold.Plan, have Files, steps ...goArguments) (Files, error) {
	tmp, err := os.MkdirTemp("", "operon-modules-")
	if err != nil {
		return Files{}, fault.Failed("set TMPDIR to a folder that you can write to", "cannot create a folder for temporary files: %v", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }() // a leftover temporary folder does no harm
	mod, sum := filepath.Join(tmp, "go.mod"), filepath.Join(tmp, "go.sum")
	for name, content := range map[string][]byte{mod: have.Mod, sum: have.Sum} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return Files{}, err
		}
	}
	overlay, err := writeOverlay(g.Dir, tmp, p, have)
	if err != nil {
		return Files{}, err
	}
	for _, arguments := range steps {
		if _, err := g.run(ctx, arguments(mod, overlay)...); err != nil {
			return Files{}, err
		}
	}
	var next Files
	if next.Mod, err = input.ReadFile(mod, input.Text); err != nil {
		return Files{}, err
	}
	next.Sum, err = input.ReadFile(sum, input.Text)
	return next, err
}

// writeOverlay writes the planned Go files to tmp, and the file that makes the go
// command read them. (Package gen/overlay covers all files.) The go command requires a go.mod in the
// project, even to work on a copy, so the overlay has one for a new project.
func writeOverlay(dir, tmp string, p *scaffold.Plan, have Files) (string, error) {
	replace := map[string]string{}
	if root := filepath.Join(dir, "go.mod"); !exists(root) {
		replace[root] = filepath.Join(tmp, "root.mod")
		if err := os.WriteFile(replace[root], have.Mod, 0o600); err != nil {
			return "", err
		}
	}
	for _, c := range p.Changes() {
		name := filepath.Join(dir, filepath.FromSlash(c.Path))
		switch {
		case !strings.HasSuffix(name, ".go") || c.Op == scaffold.Keep:
		case c.Op == scaffold.Delete:
			replace[name] = ""
		default:
			if c.Op == scaffold.Move {
				replace[filepath.Join(dir, filepath.FromSlash(c.From))] = ""
			}
			content, err := p.Read(c.Path)
			if err != nil {
				return "", fault.In("read "+c.Path, err)
			}
			replace[name] = filepath.Join(tmp, fmt.Sprintf("%d-%s", len(replace), filepath.Base(name)))
			if err := os.WriteFile(replace[name], content, 0o600); err != nil {
				return "", err
			}
		}
	}
	index, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(tmp, "overlay.json")
	return name, os.WriteFile(name, index, 0o600)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
