package config_test

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/hooks/config"
)

func TestCheckJQ(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]string{
		"":                        "",
		".metadata.labels":        "",
		".spec.replicas + 1":      "",
		".items[] | .name":        "",
		`error("no")`:             "",
		"halt":                    "",
		"[range(10000)] | length": "",
		"[limit(3; repeat(1))]":   "",
		".a |":                    "unexpected EOF",
		"unknown":                 "function not defined: unknown/0",
		"def f: f; f":             "does not end",
		"def f: [f]; f":           "does not end",
		"[repeat(.)]":             "does not end",
		"repeat(.)":               "does not end",
		"last(range(infinite))":   "does not end",
	} {
		err := config.CheckJQ(filter)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", filter, err, want)
		}
	}
}
