package config

import (
	"slices"
	"strings"
	"testing"
)

// TestFromScript checks which configurations FromScript finds in scripts.
func TestFromScript(t *testing.T) {
	const body = "configVersion: v1\nonStartup: 1\nkubernetes:\n- name: pods\n  kind: Pod\n\n# times\nschedule:\n- {name: tick, crontab: '* * * * *'}\n"
	indented := "    " + strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "\n", "\n    ") + "\n"
	for name, test := range map[string]struct {
		script string
		found  bool
	}{
		"bash":          {"#!/bin/bash\nf() {\n  cat <<'YAML'\n" + body + "YAML\n}\nkubectl get pods\n", true},
		"indented":      {"#!/bin/bash\ncat <<-EOF\n" + indented + "EOF\n", true},
		"python":        {"#!/usr/bin/env python3\nhook = operon.Hook(\n    r\"\"\"\n" + body + "\"\"\".lstrip()\n)\nkey: int = 1\n", true},
		"version last":  {"cat <<EOF\n" + strings.TrimPrefix(body, "configVersion: v1\n") + "configVersion: v1\nEOF\n", true},
		"JSON":          {`echo '{"configVersion": "v1", "onStartup": 1, "kubernetes": [{"name": "pods", "kind": "Pod"}], "schedule": [{"name": "tick", "crontab": "@daily"}]}' | tee`, true},
		"JSON lines":    {"cat <<EOF\n{\n \"configVersion\": \"v1\",\n \"kubernetes\": [{\"name\": \"pods\"}],\n \"schedule\": [{\"name\": \"tick\"}]\n}\nEOF", true},
		"braces":        {"echo '{configVersion: v1, kubernetes: [{name: pods, kind: Pod}], schedule: [{name: tick, crontab: x}]}'", true},
		"generated":     {"print(yaml.dump({'configVersion': 'v1', 'kubernetes': bindings()}))", false},
		"no hook":       {"echo configVersion", false},
		"other version": {"cat <<EOF\nconfigVersion: v2\nEOF", false},
		"empty":         {"", false},
	} {
		c := FromScript([]byte(test.script))
		if (c != nil) != test.found {
			t.Errorf("%s: found: %t, want %t", name, c != nil, test.found)
		}
		if c == nil {
			continue
		}
		var names []string
		for _, k := range c.Kubernetes {
			names = append(names, k.BindingName())
		}
		for _, s := range c.Schedule {
			names = append(names, s.BindingName())
		}
		if !slices.Equal(names, []string{"pods", "tick"}) {
			t.Errorf("%s: got %q", name, names)
		}
	}
}
