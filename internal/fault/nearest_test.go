package fault

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"knid": "kind", "Group": "group", "controler": "controller", "version": "version", "plural": "", "": "",
	} {
		if got := Nearest(word, []string{"controller", "group", "kind", "version"}); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"knid": "; did you mean kind?", "plural": ""} {
		if got := DidYouMean(word, []string{"group", "kind"}); got != want {
			t.Errorf("DidYouMean(%q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzDistance(f *testing.F) {
	f.Add("kubebuilder", "kubebuidler")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		d := Distance(a, b)
		if d != Distance(b, a) || d > max(len(a), len(b)) || (d == 0) != (a == b) {
			t.Errorf("distance(%q, %q) = %d", a, b, d)
		}
	})
}
