package hookproject

import (
	"os"
	"strings"
	"testing"
)

// TestRulesAreDocumented checks that docs/hook-rules.md, to which the help of operon
// hooks validate refers, describes each rule.
func TestRulesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/hook-rules.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules() {
		if !strings.Contains(string(page), "\n| `"+r.Name+"` |") {
			t.Errorf("docs/hook-rules.md has no row for %s: %s", r.Name, r.Summary)
		}
	}
}
