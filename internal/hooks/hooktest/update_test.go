package hooktest

import (
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

// TestUpdateKeepsTests checks that Update returns no invalid test file.
func TestUpdateKeepsTests(t *testing.T) {
	t.Parallel()
	const text = "module: web\ntests:\n- name: x\n  expect: {enabled: true}\n"
	f, err := readFile(write(t, text), "t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	u, err := f.Update([]Outcome{{Test: f.Tests[0], fixes: []fix{{f.Tests[0].Expect, set("enabled", []any{})}}}})
	want := "the actual results cannot be written as a test: t.yaml:4: enabled must be true or false"
	if u.Text != nil || u.Changed > 0 || err == nil || err.Error() != want || fault.HintOf(err) == "" {
		t.Errorf("%d changes, %v, want %s\n%s", u.Changed, err, want, u.Text)
	}
}
