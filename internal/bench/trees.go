//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/testkit/corpus"
)

// files returns the sources of a subject. With external, they require a release of
// Kubernetes other than the one in new projects.
func (c subject) files(external bool) (map[string][]byte, error) {
	// The generated files of public modules have lines of others, which both programs replace.
	files := map[string][]byte{"PROJECT": []byte("domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nplugins:\n  generate.operon.dev/v1:\n" +
		"    files:\n      .: replace\nprojectName: corpus\nrepo: " + corpus.Repo + "\nversion: \"3\"\n")}
	if c.at != "" {
		public, err := moduleDir(c.at)
		if err != nil {
			return nil, err
		}
		return files, fs.WalkDir(os.DirFS(public), ".", func(name string, d fs.DirEntry, err error) error {
			// go.work names modules of the repository that are not part of this one. PROJECT may have an old layout.
			if err == nil && d.Type().IsRegular() && name != "go.work" && name != "PROJECT" {
				files[name], err = os.ReadFile(filepath.Join(public, name))
			}
			return err
		})
	}
	made, err := corpus.Files(c.kinds)
	if err != nil {
		return nil, err
	}
	maps.Copy(files, made)
	// All scaffolded projects have a Makefile. Without one, operon searches all Go files for controller-gen calls.
	for _, name := range []string{"go.mod", "go.sum", "Makefile"} {
		content, err := os.ReadFile(filepath.Join("testdata/golden/fleet", name))
		if err != nil {
			return nil, err
		}
		files[name] = bytes.Replace(content, []byte("module example.org/fleet\n"), []byte("module "+corpus.Repo+"\n"), 1)
	}
	if external { // the release that operon itself requires, because it is in the module cache
		sums, err := os.ReadFile("go.sum")
		if err != nil {
			return nil, err
		}
		files["go.sum"] = append(files["go.sum"], sums...)
		for _, m := range []string{"api", "apiextensions-apiserver", "apimachinery", "client-go"} {
			version, err := goCommand(".", "list", "-m", "-f", "{{.Version}}", "k8s.io/"+m)
			if err != nil {
				return nil, err
			}
			files["go.mod"] = fmt.Appendf(files["go.mod"], "\nreplace k8s.io/%s => k8s.io/%[1]s %s\n", m, strings.TrimSpace(version))
		}
	}
	return files, nil
}

func moduleDir(version string) (string, error) {
	out, err := goCommand(".", "mod", "download", "-json", version)
	if err != nil {
		return "", err
	}
	var m struct{ Dir string }
	err = json.Unmarshal([]byte(out), &m)
	return m.Dir, err
}

func write(dir string, files map[string][]byte) error {
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// replace replaces the first match of a pattern in each Go file below dir, in n files,
// or in all files if n is -1. It fails if nothing matches.
func replace(dir string, pattern *regexp.Regexp, by string, n int) error {
	done := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(name) != ".go" || done == n {
			return err
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		at := pattern.FindIndex(src)
		if at == nil {
			return nil
		}
		done++
		now := slices.Concat(src[:at[0]], pattern.ReplaceAll(src[at[0]:at[1]], []byte(by)), src[at[1]:])
		return os.WriteFile(name, now, 0o644)
	})
	if err == nil && done == 0 {
		err = fmt.Errorf("no %s below %s", strconv.Quote(pattern.String()), dir)
	}
	return err
}

// same compares the projects, except for operon's own files.
func same(ours, theirs string) error {
	if out, err := exec.Command("diff", "-rq", "--exclude=.operon", ours, theirs).CombinedOutput(); err != nil {
		return fmt.Errorf("the outputs differ: %w\n%s", err, out)
	}
	return nil
}
