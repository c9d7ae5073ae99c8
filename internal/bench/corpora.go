//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/gen/corpus"
)

// A subject is what both generate from.
type subject struct {
	name  string
	kinds int    // made by internal/gen/corpus, or
	at    string // a public module, in this version
}

var corpora = []subject{
	{name: "1 kind", kinds: 1},
	{name: "50 kinds", kinds: 50},
	{name: "600 kinds", kinds: 600},
	{name: "cluster-api", at: "sigs.k8s.io/cluster-api/api@v1.14.2"},
}

// The states, in the order in which a project goes through them.
const (
	cold    = "cold, foreign dependencies"
	first   = "first run of a scaffold"
	nothing = "nothing changed"
	one     = "one type edited"
	all     = "every kind edited"
	rbac    = "rbac only, a marker edited"
)

// targets are for 1, 50 and 600 kinds.
var targets = map[string][3]float64{cold: {2, 2, 2.5}, first: {6, 5, 3.5}, nothing: {100, 200, 400}, one: {20, 30, 60}, all: {12, 7.5, 4}}

// arguments are those of both, in a state of the subject.
func (c subject) arguments(state string) []string {
	if state == rbac {
		return []string{"rbac:roleName=manager-role", "paths=./..."}
	}
	crd := "crd"
	if c.at != "" {
		crd += ":allowDangerousTypes=true" // it has floats
	}
	return []string{crd, "object", "rbac:roleName=manager-role", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"}
}

// corpus measures one subject in every state, and writes its table.
func (b *bencher) corpus(text *strings.Builder, c subject) error {
	var rows []*row
	for _, state := range []string{cold, first, nothing, one, all, rbac} {
		if c.at != "" && (state == first || state == rbac) || !b.rows.MatchString(c.name+"/"+state) {
			continue // it is no scaffold, and has no such markers
		}
		r := &row{name: state}
		if c.kinds > 0 {
			r.target = targets[state][slices.Index([]int{1, 50, 600}, c.kinds)]
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil
	}
	for round := range b.rounds {
		fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", c.name, round+1, b.rounds)
		if err := b.round(c, rows); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	table(text, c.name, "controller-gen", rows)
	return nil
}

// round takes a project through the states once.
func (b *bencher) round(c subject, rows []*row) error {
	pair, err := b.newPair(c, true)
	if err != nil {
		return err
	}
	defer pair.remove()
	if err := pair.turn(rows, cold, nil); err != nil {
		return err
	}
	if c.kinds > 0 {
		pair.remove()
		if pair, err = b.newPair(c, false); err != nil {
			return err
		}
		if err := pair.turn(rows, first, nil); err != nil {
			return err
		}
	}
	for _, state := range []struct {
		name string
		edit func(dir string) error
	}{
		{nothing, nil},
		{one, func(dir string) error {
			return replace(dir, specLine, "${0}\t// Extra is one more.\n\tExtra *string `json:\"extra,omitempty\"`\n", 1)
		}},
		{all, func(dir string) error {
			return replace(dir, specLine, "${0}\t// Further is yet one more.\n\tFurther *string `json:\"further,omitempty\"`\n", -1)
		}},
		{rbac, func(dir string) error {
			return replace(dir, rbacLine, "${0}// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=get\n", 1)
		}},
	} {
		if c.at != "" && state.name == rbac {
			continue
		}
		if err := pair.turn(rows, state.name, state.edit); err != nil {
			return err
		}
	}
	return nil
}

var (
	specLine = regexp.MustCompile(`(?m)^type \w+Spec struct \{\n`)
	rbacLine = regexp.MustCompile(`(?m)^// \+kubebuilder:rbac:.*\n`)
)

// pair is one project twice, for either program.
type pair struct {
	*bencher
	subject
	dir string // has ours and theirs, and the cache
}

func (b *bencher) newPair(c subject, foreign bool) (*pair, error) {
	dir, err := os.MkdirTemp(b.temp, "pair-")
	if err != nil {
		return nil, err
	}
	p := &pair{b, c, dir}
	files, err := c.files(foreign)
	if err != nil {
		return nil, err
	}
	for _, who := range []string{"ours", "theirs"} {
		if err := write(filepath.Join(dir, who), files); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *pair) remove() { _ = os.RemoveAll(p.dir) }

// turn edits both projects, measures both programs on them where the state has
// a row, and compares what they wrote.
func (p *pair) turn(rows []*row, state string, edit func(dir string) error) error {
	ours, theirs := filepath.Join(p.dir, "ours"), filepath.Join(p.dir, "theirs")
	args := p.arguments(state)
	us := program{ours, []string{"OPERON_CACHE=" + filepath.Join(p.dir, "cache")}, append([]string{p.operon, "generate"}, args...)}
	if state == rbac {
		us.args = append(us.args, "--only", "rbac")
	}
	them := program{theirs, nil, append([]string{p.controllerGen}, args...)}
	if state == rbac {
		if _, err := us.measure(); err != nil { // it is not the first run with such arguments
			return err
		}
	}
	for _, dir := range []string{ours, theirs} {
		if edit == nil {
			break
		}
		if err := edit(dir); err != nil {
			return err
		}
	}
	time.Sleep(100 * time.Millisecond) // nobody starts a command that soon after an edit
	if state == nothing {
		if _, err := us.measure(); err != nil { // the first such run finds out that nothing changes
			return err
		}
	}
	i := slices.IndexFunc(rows, func(r *row) bool { return r.name == state })
	if i < 0 {
		_, err := us.measure()
		return err
	}
	if err := rows[i].add(us, them); err != nil {
		return err
	}
	return same(ours, theirs)
}

// files are the sources of a subject. Foreign ones require a release of
// Kubernetes that operon does not put into new projects.
func (c subject) files(foreign bool) (map[string][]byte, error) {
	files := map[string][]byte{"PROJECT": []byte("domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: corpus\nrepo: " + corpus.Repo + "\nversion: \"3\"\n")}
	if c.at != "" {
		public, err := moduleDir(c.at)
		if err != nil {
			return nil, err
		}
		return files, fs.WalkDir(os.DirFS(public), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
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
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join("testdata/golden/fleet", name))
		if err != nil {
			return nil, err
		}
		files[name] = bytes.Replace(content, []byte("module example.org/fleet\n"), []byte("module "+corpus.Repo+"\n"), 1)
	}
	if foreign { // what operon itself requires, and thus is in the module cache
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

// replace replaces the first place of a pattern in each Go file below dir, in
// n files or with -1 in all, and wants at least one.
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

// same compares the projects, but for what operon keeps about its own.
func same(ours, theirs string) error {
	count := [2]int{}
	for i, dir := range []string{ours, theirs} {
		other := []string{theirs, ours}[i]
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if err == nil && d.Name() == ".operon" {
					return fs.SkipDir
				}
				return err
			}
			count[i]++
			if i == 1 {
				return nil
			}
			rel, _ := filepath.Rel(dir, name)
			a, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			b, err := os.ReadFile(filepath.Join(other, rel))
			if err == nil && !bytes.Equal(a, b) {
				err = fmt.Errorf("%s differs", rel)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if count[0] != count[1] {
		return fmt.Errorf("%d files, and %d of controller-gen", count[0], count[1])
	}
	return nil
}
