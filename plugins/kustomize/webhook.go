package kustomize

import (
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// createWebhook plans what the webhooks of r need in the cluster.
func createWebhook(c *project.Config, r project.Resource, p *scaffold.Plan) error { return nil }
