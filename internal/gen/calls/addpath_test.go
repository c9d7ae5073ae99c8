package calls

import "testing"

func TestAddPath(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		src  string
		line int
		want string // "" if the call has no place
	}{
		"after the last":  {"a:\n\tgen \\\n\t\tpaths=./api/... \\\n\t\tpaths=./b/... \\\n\t\tcrd\n", 2, "a:\n\tgen \\\n\t\tpaths=./api/... \\\n\t\tpaths=./b/... \\\n\t\tpaths=./new/... \\\n\t\tcrd\n"},
		"CRLF":            {"gen \\\r\n  paths=./api/... \\\r\n  crd\r\n", 1, "gen \\\r\n  paths=./api/... \\\r\n  paths=./new/... \\\r\n  crd\r\n"},
		"last line":       {"gen \\\n  crd \\\n  paths=./api/...\n", 1, ""},
		"one line":        {"gen crd paths=./api/...\n", 1, ""},
		"next call":       {"gen crd\ngen \\\n paths=./api/... \\\n crd\n", 1, ""},
		"several a line":  {"gen \\\n paths=./a paths=./b \\\n crd\n", 1, ""},
		"beyond the file": {"gen\n", 5, ""},
	} {
		next, ok := AddPath([]byte(tc.src), tc.line, "./new/...")
		if want := tc.want; ok != (want != "") || ok && string(next) != want || !ok && string(next) != tc.src {
			t.Errorf("%s: %t\n%s", name, ok, next)
		}
	}
}
