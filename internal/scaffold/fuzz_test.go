package scaffold

import (
	"fmt"
	"testing"
)

// program is a plan encoded in a fuzzer's bytes: two bytes for each operation.
type program []byte

// The operations of a program. Seeding is twice as likely.
const (
	opSeed = iota
	opSeedToo
	opShare
	opGenerate
	opEdit
	opRemove
	opCount
)

// fill runs the program, as a plugin would: an edit of a file that the program
// plans comes after that. What a plan refuses is left out.
func (b program) fill(p *Plan) {
	names := []string{"a", "b", "d/a", "d/e/a", "d/e/b", "link/a", "file"}
	plans, planned := map[string]bool{}, map[string]bool{}
	b.each(func(op int, n, _ byte) {
		plans[names[int(n)%len(names)]] = plans[names[int(n)%len(names)]] || op <= opGenerate
	})
	b.each(func(op int, n, c byte) {
		name, content := names[int(n)%len(names)], fmt.Appendf(nil, "%d\n// here\n", c%4)
		planned[name] = planned[name] || op <= opGenerate
		switch op {
		case opSeed, opSeedToo:
			_ = p.Seed(name, 0o755, content)
		case opShare:
			_ = p.Share(name, 0, content)
		case opGenerate:
			_ = p.Generate("g", name, content)
		case opRemove:
			_ = p.Remove(name)
		case opEdit:
			if planned[name] || !plans[name] {
				_ = p.Edit(name, appendLine(fmt.Sprint("line ", c%4)))
			}
		}
	})
}

func (b program) each(f func(op int, name, content byte)) {
	for i := 0; i+1 < len(b); i += 2 {
		f(int(b[i])%opCount, b[i]/opCount, b[i+1])
	}
}

// FuzzPlan applies a plan to a tree that another plan and a user have changed.
// If operation n fails, the tree stays unchanged. If none fails, repeating the
// plan changes nothing.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{0, 1, 8, 2, 4, 1}, []byte{0, 2, 4, 1, 11, 3}, []byte{1}, uint16(60))
	f.Add([]byte{0, 1, 19, 2, 35, 1}, []byte{5, 0, 21, 0, 37, 0}, []byte{}, uint16(100))
	f.Add([]byte{1, 1, 9, 1, 17, 1, 25, 1}, []byte{1, 2, 9, 2, 17, 2, 25, 2, 4, 3}, []byte{0, 3}, uint16(150))
	f.Fuzz(func(t *testing.T, first, second, user []byte, n uint16) {
		if len(first)+len(second)+len(user) > 60 {
			t.Skip("long plans show nothing that short ones do not")
		}
		root := scratch(t)
		write(t, root, "real/x", "x")
		write(t, root, "link", "-> real")
		write(t, root, "file", "// here\n")
		fsys := baseFs(root)
		p := newPlan(t, fsys, Options{Force: true})
		program(first).fill(p)
		must(t, p.Apply(t.Context()))
		for i, b := range user {
			name := []string{"a", "b", "d/a", "file"}[int(b)%4]
			if p.Exists(name) {
				write(t, root, name, fmt.Sprintf("mine %d\n// here\n", i))
			}
		}

		before := snapshot(t, root)
		broken := &faulty{Fs: fsys}
		p = newPlan(t, broken, Options{Force: n%2 == 0})
		program(second).fill(p)
		broken.at, broken.how = broken.n+1+int(n/8), []how{once, short, lies, full}[n/2%4]
		err := p.Apply(t.Context())
		if err != nil {
			same(t, "the tree after "+err.Error(), before, snapshot(t, root))
			return
		}
		after := snapshot(t, root)
		again := newPlan(t, fsys, Options{Force: n%2 == 0})
		program(second).fill(again)
		for _, c := range again.Changes() {
			if c.Op != Keep {
				t.Errorf("repeated: %s %s", c.Op, c.Path)
			}
		}
		must(t, again.Apply(t.Context()))
		same(t, "the tree, the second time", after, snapshot(t, root))
	})
}
