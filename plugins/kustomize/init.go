package kustomize

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"go.yaml.in/yaml/v3"
)

const managerFile = "config/manager/manager.yaml"

// initProject plans the manifests that every project has. Users change the resources and the
// environment of the manager. If such a change does not fit the current defaults, the file
// keeps earlier versions'.
func initProject(c *project.Config, p *scaffold.Plan) error {
	data, fits := initData(c), true
	err := tree("kustomize/init", nil, data, p, func(name string, mode fs.FileMode, content []byte) (err error) {
		if name == managerFile {
			if content, err = withImages(c, content); err != nil {
				return err
			}
			if fits, err = mergeable(p, name, content); err != nil || !fits {
				return err
			}
		}
		return p.Seed(name, mode, content)
	})
	if err != nil || fits {
		return err
	}
	data.Tuned = false
	return tree("kustomize/init", nil, data, p, render.Only(func(name string, mode fs.FileMode, content []byte) error {
		content, err := withImages(c, content)
		if err != nil {
			return err
		}
		return p.Seed(name, mode, content)
	}, managerFile))
}

// mergeable reports whether content merges into the user's file without a conflict, and
// without a key that occurs twice.
func mergeable(p *scaffold.Plan, name string, content []byte) (bool, error) {
	users, base, err := p.Before(name)
	if err != nil || users == nil || base == nil || p.Forced() {
		return true, err
	}
	op, merged := scaffold.Decide(base, users, content)
	if op == scaffold.Conflict {
		return false, nil
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(merged)); ; {
		var document map[string]any
		if err := decoder.Decode(&document); err != nil {
			return errors.Is(err, io.EOF), nil
		}
	}
}
