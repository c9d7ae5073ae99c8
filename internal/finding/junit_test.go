package finding

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJUnit(t *testing.T) {
	t.Parallel()
	icon, name := Rule{Name: "icon"}, Rule{Name: "name", Severity: Error}
	all := []Finding{icon.At("a.yaml", 0, 0, "no icon"), name.At("a.yaml", 3, 2, "<bad> name")}
	got, err := JUnit("operon check", []Rule{icon, name, {Name: "other"}}, all, Error)
	if err != nil {
		t.Fatal(err)
	}
	want := `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="operon check" tests="3" failures="1">
    <testcase classname="operon check" name="icon" file="a.yaml">
      <system-out>a.yaml: warning: no icon [icon]</system-out>
    </testcase>
    <testcase classname="operon check" name="name" file="a.yaml" line="3">
      <failure message="&lt;bad&gt; name">a.yaml:3:2: error: &lt;bad&gt; name [name]</failure>
    </testcase>
    <testcase classname="operon check" name="other"></testcase>
  </testsuite>
</testsuites>
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if got, _ := JUnit("operon check", []Rule{icon}, all, Warning); cmp.Equal(string(got), want) {
		t.Error("a warning that fails is no failure")
	}
}
