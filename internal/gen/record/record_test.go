package record

import (
	"strings"
	"testing"
)

// TestDamagedSum decodes records with sums of a wrong form, which are as good as no record.
func TestDamagedSum(t *testing.T) {
	t.Parallel()
	content, err := (&Record{Dependencies: map[string]Sum{"p": SumOf(nil)}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	sum := SumOf(nil).String()
	for text, want := range map[string]int{sum: 1, sum + sum: 0, sum[2:]: 0, "x" + sum[1:]: 0, "": 0} {
		r := Decode([]byte(strings.Replace(string(content), sum, text, 1)))
		if len(r.Dependencies) != want {
			t.Errorf("%q: %v", text, r.Dependencies)
		}
	}
}
