package consent

import "testing"

func TestStore(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	given := func(path, sum string, want bool) {
		t.Helper()
		if got, err := s.Given(path, sum); err != nil || got != want {
			t.Errorf("%s %s: %v, %v", path, sum, got, err)
		}
	}
	given("/a", "1", false)
	if err := s.Give("/a", "1"); err != nil {
		t.Fatal(err)
	}
	given("/a", "1", true)
	given("/a", "2", false)
	given("/b", "1", false)
}
