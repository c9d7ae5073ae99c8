package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
)

// The YAML 1.1 words that the engine's library reads as booleans. The YAML library with
// positions reads most of them as strings.
var (
	trues  = []string{"true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON"}
	falses = []string{"false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF"}
)

// octal matches a number of several digits that the engine's library reads as octal.
var octal = lazyregexp.New(`^[-+]?0[0_]*[1-7]_*[0-7][0-7_]*$`)

// plain reports whether a scalar has neither quotes nor a tag.
func plain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }

// truth returns "true" or "false" if the engine reads a plain word as a boolean, and ""
// otherwise.
func truth(n *yaml.Node) string {
	switch {
	case !plain(n):
		return ""
	case slices.Contains(trues, n.Value):
		return "true"
	case slices.Contains(falses, n.Value):
		return "false"
	}
	return ""
}

// keyOf returns a key as the engine reads it.
func keyOf(n *yaml.Node) string { return cmp.Or(truth(n), n.Value) }

// misread explains why the engine reads a plain scalar as another type than it seems to
// have, or returns "".
func misread(n *yaml.Node) string {
	word := truth(n)
	if word == "" || strings.EqualFold(word, n.Value) {
		return ""
	}
	return fmt.Sprintf("YAML reads %s as %s: write it in quotes", n.Value, word)
}

// lintNode reports duplicate keys, of which the engine uses the last, and scalars that
// the engine reads as another type than they seem to have.
func (j *validator) lintNode(n *yaml.Node, p path) {
	at := func(n *yaml.Node, rule, format string, args ...any) {
		j.add(finding.Finding{Line: n.Line, Column: n.Column, Rule: rule, Message: fmt.Sprintf(format, args...)}, nil, false)
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, name := n.Content[i], keyOf(n.Content[i])
			if problem := misread(key); problem != "" {
				at(key, ruleMisread, "%s: in its keys, %s", orConfiguration(p), problem)
			}
			if name != "<<" && hasKey(n.Content[i+2:], name) {
				at(key, RuleDuplicateKey, "%s is ignored: the key is repeated, and the last one counts", p.in(name))
			}
			j.lintNode(n.Content[i+1], p.in(name))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			j.lintNode(item, p.in(i))
		}
	case yaml.ScalarNode:
		if plain(n) && octal().MatchString(n.Value) {
			at(n, ruleMisread, "%s: YAML reads %s as an octal number: remove the leading zero", p, n.Value)
		}
	}
}

// hasKey reports whether the remaining keys of a mapping include a name.
func hasKey(rest []*yaml.Node, name string) bool {
	for i := 0; i+1 < len(rest); i += 2 {
		if keyOf(rest[i]) == name {
			return true
		}
	}
	return false
}
