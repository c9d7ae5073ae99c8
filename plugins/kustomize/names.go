package kustomize

import (
	"bytes"
	"strings"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// kindWords are the words that tell the kind of r from others in the name of a
// file, which named makes of them: those of the layout's rule. A file that got its
// name before the layout was switched keeps it, and so do the objects in it: role
// bindings of other people refer to them, and folders are no concern of theirs.
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

// roleWords are the words that files and names of the users' roles of r begin
// with.
func roleWords(c *project.Config, r project.Resource, p *scaffold.Plan) []string {
	for _, role := range usersRoles {
		named := func(words string) string { return "config/rbac/" + words + "_" + role + "_role.yaml" }
		if words := kindWords(c, r, p, named); len(words) != len(c.KindWords(r)) {
			return words
		}
	}
	return c.KindWords(r)
}

// usersRoles are the roles that each kind has for the people who use it.
var usersRoles = []string{"admin", "editor", "viewer"}
