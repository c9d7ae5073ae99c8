package testcluster

import (
	"slices"
	"testing"
)

// TestAccounts gives hooks valid names of ServiceAccounts, which differ.
func TestAccounts(t *testing.T) {
	t.Parallel()
	var names []string
	for _, a := range newAccounts([]Account{{}, {Hook: "a_b.sh"}, {Hook: "A-b.sh"}, {Hook: "001/x.py"}}) {
		names = append(names, a.id.Name)
	}
	if want := []string{"operon-hooks", "operon-hook-a-b-sh", "operon-hook-a-b-sh-2", "operon-hook-001-x-py"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
