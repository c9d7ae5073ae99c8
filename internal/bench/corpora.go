//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// subject is the project from which both programs generate.
type subject struct {
	name  string
	kinds int    // created by internal/testkit/corpus; 0 for a public module
	at    string // the path and version of a public module
	apis  string // the folder with the API types of the module
}

var corpora = []subject{
	{name: "1 kind", kinds: 1},
	{name: "50 kinds", kinds: 50},
	{name: "600 kinds", kinds: 600},
	{name: "cluster-api", at: "sigs.k8s.io/cluster-api/api@v1.14.2", apis: "."},
	{name: "gateway-api", at: "sigs.k8s.io/gateway-api@v1.5.0", apis: "apis"},
	{name: "prometheus-operator", at: "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring@v0.91.0", apis: "."},
	{name: "kueue", at: "sigs.k8s.io/kueue@v0.19.2", apis: "apis"},
	{name: "opentelemetry-operator", at: "github.com/open-telemetry/opentelemetry-operator@v0.141.0", apis: "apis"},
}

// The states, in the order in which a project reaches them.
const (
	cold    = "cold, external dependencies"
	first   = "first run of a scaffold"
	nothing = "nothing changed"
	one     = "one type edited"
	all     = "every kind edited"
	rbac    = "rbac only, a marker edited"
)

// targets are the target ratios for 1, 50 and 600 kinds, and for a public module.
var targets = map[string][4]float64{cold: {0, 0, 0, 2}, first: {2, 2, 2, 0}, nothing: {60, 130, 300, 0}, one: {15, 25, 60, 0}}

// arguments returns the arguments of both programs in a state of the subject.
func (c subject) arguments(state string) []string {
	if state == rbac {
		return []string{"rbac:roleName=manager-role", "paths=./..."}
	}
	crd, paths := "crd", "paths=./..."
	if c.at != "" {
		crd += ":allowDangerousTypes=true" // some have fields of type float
		paths = "paths=./" + path.Join(c.apis, "...")
	}
	return []string{crd, "object", "rbac:roleName=manager-role", "webhook", paths, "output:crd:artifacts:config=config/crd/bases"}
}

// corpus measures a subject in all states, and writes its table.
func (b *bencher) corpus(text *strings.Builder, c subject) error {
	var rows []*row
	for _, state := range []string{cold, first, nothing, one, all, rbac} {
		if c.at != "" && (state == first || state == rbac) || !b.rows.MatchString(c.name+"/"+state) {
			continue // a public module has other requirements and markers than a scaffold
		}
		rows = append(rows, &row{name: state, target: targets[state][slices.Index([]int{1, 50, 600, 0}, c.kinds)]})
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
	fmt.Fprintf(text, "Size of the cache after all rows: %.1f MB.\n\n", kept)
	return nil
}

// round takes a project through all states once. It returns the size of the cache after
// that, in MB.
func (b *bencher) round(c subject, rows []*row) (kept float64, err error) {
	pair, err := b.newPair(c, true)
	if err != nil {
		return 0, err
	}
	defer func() { pair.remove() }()
	if err := pair.measureState(rows, cold, nil); err != nil {
		return 0, err
	}
	if c.kinds > 0 {
		scaffold, err := b.newPair(c, false)
		if err != nil {
			return 0, err
		}
		pair.remove()
		pair = scaffold
		if err := pair.measureState(rows, first, nil); err != nil {
			return 0, err
		}
	}
	for _, state := range []struct {
		name string
		edit func(dir string) error
	}{
		{nothing, nil},
		{one, func(dir string) error {
			return replace(filepath.Join(dir, c.apis), specLine, "${0}\t// Extra is one more.\n\tExtra *string `json:\"extra,omitempty\"`\n", 1)
		}},
		{all, func(dir string) error {
			return replace(filepath.Join(dir, c.apis), specLine, "${0}\t// Further is yet one more.\n\tFurther *string `json:\"further,omitempty\"`\n", -1)
		}},
		{rbac, func(dir string) error {
			return replace(dir, rbacLine, "${0}// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=get\n", 1)
		}},
	} {
		if c.at != "" && state.name == rbac {
			continue
		}
		if err := pair.measureState(rows, state.name, state.edit); err != nil {
			return 0, err
		}
	}
	return size(filepath.Join(pair.dir, "cache"))
}

// size returns the size of the files below a folder, in MB.
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

// pair is two copies of a project, one for each program.
type pair struct {
	*bencher
	subject
	dir string // contains the folders ours and theirs, and the cache
}

func (b *bencher) newPair(c subject, external bool) (*pair, error) {
	dir, err := os.MkdirTemp(b.temp, "pair-")
	if err != nil {
		return nil, err
	}
	p := &pair{b, c, dir}
	files, err := c.files(external)
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

// settle is the pause after an edit. No user starts a command sooner.
const settle = 100 * time.Millisecond

// us returns the command line of operon in a state.
func (p *pair) us(state string) program {
	args := append([]string{p.operon, "generate"}, p.arguments(state)...)
	if state == rbac {
		args = append(args, "--only", "rbac")
	}
	return program{filepath.Join(p.dir, "ours"), []string{"OPERON_CACHE=" + filepath.Join(p.dir, "cache")}, args}
}

// measureState edits both copies, measures both programs on them if the state has a row,
// and compares the outputs.
func (p *pair) measureState(rows []*row, state string, edit func(dir string) error) error {
	ours, theirs := filepath.Join(p.dir, "ours"), filepath.Join(p.dir, "theirs")
	us, them := p.us(state), program{theirs, nil, append([]string{p.controllerGen}, p.arguments(state)...)}
	if state == rbac {
		if _, err := us.measure(); err != nil { // so that the measured run is not the first with these arguments
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
		if _, err := us.measure(); err != nil { // the first run without changes stores its result
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
