package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"go.yaml.in/yaml/v3"
)

// The words that the engine's library takes for true and false, as YAML 1.1 has it.
// The one that knows places takes most of them for texts.
var (
	trues  = []string{"true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON"}
	falses = []string{"false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF"}
)

// octal is a number of several digits that the library reads by eights.
var octal = regexp.MustCompile(`^[-+]?0[0_]*[1-7]_*[0-7][0-7_]*$`)

// plain reports whether a scalar stands without quotes and without a tag.
func plain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }

// truth is true or false where the engine reads a plain word as that, or "".
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

// keyOf is a key as the engine reads it.
func keyOf(n *yaml.Node) string { return cmp.Or(truth(n), n.Value) }

// misread says that a word is not what it looks like, or "".
func misread(n *yaml.Node) string {
	word := truth(n)
	if word == "" || strings.EqualFold(word, n.Value) {
		return ""
	}
	return fmt.Sprintf("YAML reads %s as %s: write it in quotes", n.Value, word)
}

// lintNode finds keys that are there twice, of which the engine takes the last one,
// and words and numbers that it reads as something else than they look like.
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
			if name != "<<" && follows(n.Content[i+2:], name) {
				at(key, RuleDuplicateKey, "%s is ignored: the key is repeated, and the last one counts", p.in(name))
			}
			j.lintNode(n.Content[i+1], p.in(name))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			j.lintNode(item, p.in(i))
		}
	case yaml.ScalarNode:
		if plain(n) && octal.MatchString(n.Value) {
			at(n, ruleMisread, "%s: YAML reads %s as an octal number: remove the leading zero", p, n.Value)
		}
	}
}

// follows reports whether a key is among those that follow.
func follows(rest []*yaml.Node, name string) bool {
	for i := 0; i+1 < len(rest); i += 2 {
		if keyOf(rest[i]) == name {
			return true
		}
	}
	return false
}
