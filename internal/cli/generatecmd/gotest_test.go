package generatecmd

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/operon-dev/operon/internal/cli/command"
)

// TestShared checks that operon test compiles as the Dockerfile does, unless the tests or the user need something else.
func TestShared(t *testing.T) {
	t.Parallel()
	const dockerfile = "FROM scratch\nRUN CGO_ENABLED=0 go build -o manager ./cmd\n"
	for name, tc := range map[string]struct {
		files          map[string]string
		flags, environ []string
		want, wantEnv  []string
	}{
		"a project":        {files: map[string]string{"Dockerfile": dockerfile, "a_test.go": "package a"}, want: []string{"-trimpath"}, wantEnv: []string{"CGO_ENABLED=0"}},
		"with cgo":         {files: map[string]string{"Dockerfile": "FROM scratch\n"}, want: []string{"-trimpath"}},
		"no Dockerfile":    {want: []string{"-trimpath"}},
		"race detector":    {files: map[string]string{"Dockerfile": dockerfile}, flags: []string{"-race"}, want: []string{"-trimpath"}},
		"race in GOFLAGS":  {files: map[string]string{"Dockerfile": dockerfile}, environ: []string{"GOFLAGS=-mod=mod -race"}, want: []string{"-trimpath"}},
		"no race detector": {files: map[string]string{"Dockerfile": dockerfile}, flags: []string{"-race=false", "-run=x-race"}, want: []string{"-trimpath"}, wantEnv: []string{"CGO_ENABLED=0"}},
		"choice of users":  {files: map[string]string{"Dockerfile": dockerfile}, environ: []string{"CGO_ENABLED=1"}, want: []string{"-trimpath"}},
		"tests with paths": {files: map[string]string{"Dockerfile": dockerfile, "a_test.go": "package a\nvar _, file, _, _ = runtime.Caller(0)"}, wantEnv: []string{"CGO_ENABLED=0"}},
		"others' tests":    {files: map[string]string{"vendor/a_test.go": "runtime.Caller(0)", ".git/b_test.go": "runtime.Caller(0)"}, want: []string{"-trimpath"}},
	} {
		root := t.TempDir()
		for file, content := range tc.files {
			path := filepath.Join(root, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run := goTest{root: root, flags: tc.flags}
		run.share(&command.App{Environ: append([]string{"HOME=/"}, tc.environ...)})
		if !slices.Equal(run.sharedFlags, tc.want) || !slices.Equal(run.sharedEnv, tc.wantEnv) {
			t.Errorf("%s: got %v and %v, want %v and %v", name, run.sharedFlags, run.sharedEnv, tc.want, tc.wantEnv)
		}
	}
}
