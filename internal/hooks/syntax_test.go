package hooks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/hooks/rbac"
)

// TestShellSyntax checks the position and the message of a finding. Scripts in other languages
// are not checked.
func TestShellSyntax(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"#!/bin/bash\nif true; then\n  echo a\nfi\n": "",
		"#!/bin/bash\nif true; then\n  echo a\n":     "a.sh:2:1: bash cannot parse the script: `if` statement must end with `fi`",
		"#!/usr/bin/env bash\nexit 0\nf() {\necho\n": "a.sh:3:5: bash cannot parse the script: reached EOF without matching `{` with `}`",
		"#!/bin/sh\necho $(\n":                       "a.sh:2:6: bash cannot parse the script: reached EOF without matching `$(` with `)`",
		"#!/usr/bin/env python3\ndef f(\n":           "",
		"#!/usr/bin/env fish\nif true\nend\n":        "",
		"if true; then\n":                            "",
	} {
		var got strings.Builder
		for _, f := range checkShellSyntax(rbac.Source{Path: "a.sh", Text: []byte(text)}) {
			got.WriteString(f.Position() + ": " + f.Message)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
