package scaffold

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// program is a plan read from a fuzzer's bytes: two for each operation.
type program []byte

// fill runs the program. Operations that a plan refuses are left out, the same
// ones each time.
func (b program) fill(p *Plan) {
	names := []string{"a", "b", "d/a", "d/e/a", "d/e/b", "link/a", "file"}
	for len(b) >= 2 {
		name, content := names[int(b[0]>>3)%len(names)], fmt.Sprintf("%d\n// here\n", b[1]%4)
		switch b[0] % 6 {
		case 0, 1:
			_ = p.Seed(name, 0o755, []byte(content))
		case 2:
			_ = p.Share(name, 0, []byte(content))
		case 3:
			_ = p.Generate("g", name, []byte(content))
		case 4:
			_ = p.Edit(name, appendLine(fmt.Sprint("line ", b[1]%4)))
		case 5:
			_ = p.Remove(name)
		}
		b = b[2:]
	}
}

// FuzzPlan applies a plan over a tree that another plan and a user have made.
// With a failure at operation n the tree stays as it was; without, a second run
// of the same plan changes nothing.
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
		p := newPlan(t, fsys, Options{})
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
		planned := map[string]string{}
		for _, c := range p.Changes() {
			planned[c.Path] = string(c.After)
		}
		again := newPlan(t, fsys, Options{})
		program(second).fill(again)
		for _, c := range again.Changes() {
			if c.Op != Keep && !strings.Contains(string(second), "\x05") && !reseeded(p, c.Path) {
				t.Fatalf("the second time: %s %s", c.Op, c.Path)
			}
		}
		if err := again.Apply(t.Context()); err != nil && !errors.Is(err, errFault) && len(again.Conflicts()) == 0 {
			t.Fatal(err)
		}
	})
}
