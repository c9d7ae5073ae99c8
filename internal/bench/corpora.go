//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A subject is what both generate from.
type subject struct {
	name  string
	kinds int    // made by internal/testkit/corpus, or
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
	var kept float64
	for round := range b.rounds {
		fmt.Fprintf(os.Stderr, "%s: round %d of %d\n", c.name, round+1, b.rounds)
		var err error
		if kept, err = b.round(c, rows); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	table(text, c.name, "controller-gen", rows)
	fmt.Fprintf(text, "What is kept after all of these: %.1f MB.\n\n", kept)
	return nil
}

// round takes a project through the states once. It returns the MB that the
// cache has then.
func (b *bencher) round(c subject, rows []*row) (kept float64, err error) {
	pair, err := b.newPair(c, true)
	if err != nil {
		return 0, err
	}
	defer func() { pair.remove() }()
	if err := pair.turn(rows, cold, nil); err != nil {
		return 0, err
	}
	if c.kinds > 0 {
		scaffold, err := b.newPair(c, false)
		if err != nil {
			return 0, err
		}
		pair.remove()
		pair = scaffold
		if err := pair.turn(rows, first, nil); err != nil {
			return 0, err
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
			return 0, err
		}
	}
	return size(filepath.Join(pair.dir, "cache"))
}

// size is how many MB the files below a folder have.
func size(dir string) (mb float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			mb += float64(info.Size()) / (1 << 20)
		}
		return err
	})
	return mb, err
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

// settle is how long nothing runs after an edit: nobody starts a command sooner.
const settle = 100 * time.Millisecond

// us is the run of operon in a state.
func (p *pair) us(state string) program {
	args := append([]string{p.operon, "generate"}, p.arguments(state)...)
	if state == rbac {
		args = append(args, "--only", "rbac")
	}
	return program{filepath.Join(p.dir, "ours"), []string{"OPERON_CACHE=" + filepath.Join(p.dir, "cache")}, args}
}

// turn edits both projects, measures both programs on them where the state has
// a row, and compares what they wrote.
func (p *pair) turn(rows []*row, state string, edit func(dir string) error) error {
	ours, theirs := filepath.Join(p.dir, "ours"), filepath.Join(p.dir, "theirs")
	us, them := p.us(state), program{theirs, nil, append([]string{p.controllerGen}, p.arguments(state)...)}
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
	time.Sleep(settle)
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
