package kustomize

import (
	"bytes"
	"strings"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// kindWords returns the words that identify the kind of r in file names, which named builds
// from them. They follow the rule of the layout. A file that got its name before the layout
// changed keeps it, and so do its objects, because role bindings may refer to them.
func kindWords(c *project.Config, r project.Resource, p *scaffold.Plan, named func(words string) string) []string {
	other := *c
	other.MultiGroup = !c.MultiGroup
	for _, layout := range []*project.Config{c, &other} {
		words := layout.KindWords(r)
		users, base, err := p.Before(named(strings.Join(words, "_")))
		if err == nil && bytes.Contains(append(users, base...), []byte(r.QualifiedGroup())) {
			return words
		}
	}
	return c.KindWords(r)
}

// roleWords returns the prefix of files and names of the users' roles of r.
func roleWords(c *project.Config, r project.Resource, p *scaffold.Plan) []string {
	for _, role := range usersRoles {
		named := func(words string) string { return "config/rbac/" + words + "_" + role + "_role.yaml" }
		if words := kindWords(c, r, p, named); len(words) != len(c.KindWords(r)) {
			return words
		}
	}
	return c.KindWords(r)
}

// usersRoles are the roles that each kind has for its users.
var usersRoles = []string{"admin", "editor", "viewer"}
