package kustomize

import (
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// editProject brings the manifests from e.Before to e.Project.
func editProject(e plugin.Event, p *scaffold.Plan) error { return nil }
