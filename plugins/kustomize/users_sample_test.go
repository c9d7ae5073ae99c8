package kustomize

import (
	"strings"
	"testing"
)

func TestDropNamespace(t *testing.T) {
	t.Parallel()
	const limited = "metadata:\n  name: victory\n  # The manager watches only its own namespace.\n  namespace: fleet-system\nspec: {}\n"
	const want = "metadata:\n  name: victory\nspec: {}\n"
	for _, end := range []string{"\n", "\r\n"} {
		got := dropNamespace([]byte(strings.ReplaceAll(limited, "\n", end)))
		if string(got) != strings.ReplaceAll(want, "\n", end) {
			t.Errorf("%q", got)
		}
	}
}
