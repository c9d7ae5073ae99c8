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

// The YAML 1.1 words that the engine's library reads as booleans. The library that returns
// positions reads most of them as strings.
var (
	trueWords  = []string{"true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON"}
	falseWords = []string{"false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF"}
)

// octal matches numbers of several digits that the engine's library reads as octal.
var octal = lazyregexp.New(`^[-+]?0[0_]*[1-7]_*[0-7][0-7_]*$`)

// isPlain reports whether a node is a scalar without quotes and without a tag.
func isPlain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }

// booleanWord returns "true" or "false" if the engine reads a plain scalar as a boolean, and
// "" otherwise.
func booleanWord(n *yaml.Node) string {
	switch {
	case !isPlain(n):
		return ""
	case slices.Contains(trueWords, n.Value):
		return "true"
	case slices.Contains(falseWords, n.Value):
		return "false"
	}
	return ""
}

// keyOf returns the key as the engine reads it.
func keyOf(n *yaml.Node) string { return cmp.Or(booleanWord(n), n.Value) }

// misread explains why the engine reads a plain scalar as a boolean although it looks like a
// string, or returns "". what precedes the scalar in the message.
func misread(n *yaml.Node, what string) string {
	word := booleanWord(n)
	if word == "" || strings.EqualFold(word, n.Value) {
		return ""
	}
	return fmt.Sprintf("YAML reads %s%s as %s: add quotes", what, n.Value, word)
}

// checkNode reports duplicate keys (the engine uses the last one), and scalars that the
// engine reads differently than they look.
func (v *validator) checkNode(n *yaml.Node, p path) {
	at := func(n *yaml.Node, rule finding.Rule, format string, args ...any) {
		v.add(rule.At("", n.Line, n.Column, format, args...))
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, name := n.Content[i], keyOf(n.Content[i])
			if problem := misread(key, "the key "); problem != "" {
				at(key, ruleMisread, "%s: %s", orConfiguration(p), problem)
			}
			if name != "<<" && hasKey(n.Content[i+2:], name) {
				at(key, RuleDuplicateKey, "%s is ignored: the key is duplicated, and the last one wins", p.in(name))
			}
			v.checkNode(n.Content[i+1], p.in(name))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			v.checkNode(item, p.in(i))
		}
	case yaml.ScalarNode:
		if isPlain(n) && octal().MatchString(n.Value) {
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
