package goedit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
)

func TestInsertCalls(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body      string // of func setup
		calls     []string
		want, err string
	}{
		"several lines": {
			body: "\treturn ctrl.New(mgr).\n\t\tDone()\n",
			want: "\treturn ctrl.New(mgr).\n\t\tWithA(&a{}).\n\t\tDone()\n",
		},
		"one line": {
			body: "\treturn ctrl.New(mgr).Done()\n",
			want: "\treturn ctrl.New(mgr).WithA(&a{}).Done()\n",
		},
		"several calls": {
			body:  "\treturn ctrl.New(mgr).\n\t\tDone()\n",
			calls: []string{"WithA(&a{})", `WithAPath("/a")`},
			want:  "\treturn ctrl.New(mgr).\n\t\tWithA(&a{}).\n\t\tWithAPath(\"/a\").\n\t\tDone()\n",
		},
		"before another call": {
			body: "\treturn ctrl.New(mgr).\n\t\tOther().\n\t\tWithB(&b{}).\n\t\tWithBPath(\"/b\").\n\t\tDone()\n",
			want: "\treturn ctrl.New(mgr).\n\t\tOther().\n\t\tWithA(&a{}).\n\t\tWithB(&b{}).\n\t\tWithBPath(\"/b\").\n\t\tDone()\n",
		},
		"a comment in the chain": {
			body: "\treturn ctrl.New(mgr). // of mgr\n\t\t\t\t// done\n\t\t\t\tDone()\n",
			want: "\treturn ctrl.New(mgr). // of mgr\n\t\t\t\t// done\n\t\t\t\tWithA(&a{}).\n\t\t\t\tDone()\n",
		},
		"a chain that starts at a variable": {
			body: "\tb := ctrl.New(mgr)\n\tif err := b.Done(); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n",
			want: "\tb := ctrl.New(mgr)\n\tif err := b.WithA(&a{}).Done(); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n",
		},
		"no end":   {body: "\treturn nil\n", err: "x.go has no func setup with a chain of calls that ends in Done"},
		"two ends": {body: "\ta.Done()\n\tb.Done()\n", err: "x.go has several calls of Done in func setup"},
		"no chain": {body: "\treturn Done()\n", err: "x.go: the calls do not fit into func setup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const head, tail = "package x\n\nfunc setup() error {\n", "}\n\nfunc other() error { return x.Done() }\n"
			if test.calls == nil {
				test.calls = []string{"WithA(&a{})"}
			}
			for _, eol := range []string{"\n", "\r\n"} {
				f, err := Parse("x.go", []byte(strings.ReplaceAll(head+test.body+tail, "\n", eol)))
				if err != nil {
					t.Fatal(err)
				}
				err = f.InsertCalls("setup", "Done", test.calls, "WithB", "WithBPath")
				if test.err != "" {
					if err == nil || err.Error() != test.err || !strings.Contains(fault.HintOf(err), "\tWithA(&a{}).") {
						t.Errorf("got %v, hint %q; want %s", err, fault.HintOf(err), test.err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				got, _ := f.Bytes()
				if diff := cmp.Diff(strings.ReplaceAll(head+test.want+tail, "\n", eol), string(got)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if !f.CallsIn("setup", "Other2", "WithA") || f.CallsIn("other", "WithA") {
					t.Error("CallsIn does not find the calls")
				}
			}
		})
	}
}

func TestInsertDecls(t *testing.T) {
	t.Parallel()
	const text = "// +a\n\n// A is.\ntype A struct{}\n"
	for name, test := range map[string]struct{ src, want string }{
		"at the end": {
			src:  "package x\n\nvar x = 1\n",
			want: "package x\n\nvar x = 1\n\n" + text,
		},
		"after a last line without a newline": {
			src:  "package x\n\nvar x = 1",
			want: "package x\n\nvar x = 1\n\n" + text,
		},
		"above a type and its comments": {
			src:  "package x\n\nvar x = 1\n\n// +b\n\n// B is.\ntype B struct{}\n\nvar y = 2\n",
			want: "package x\n\nvar x = 1\n\n" + text + "\n// +b\n\n// B is.\ntype B struct{}\n\nvar y = 2\n",
		},
		"above a type without comments": {
			src:  "package x\n\ntype B int\n",
			want: "package x\n\n" + text + "\ntype B int\n",
		},
		"not into a group of types": {
			src:  "package x\n\ntype (\n\tC int\n\tB int\n)\n",
			want: "package x\n\ntype (\n\tC int\n\tB int\n)\n\n" + text,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, eol := range []string{"\n", "\r\n"} {
				f, err := Parse("x.go", []byte(strings.ReplaceAll(test.src, "\n", eol)))
				if err != nil {
					t.Fatal(err)
				}
				if err := f.InsertDecls(text, "B"); err != nil {
					t.Fatal(err)
				}
				got, _ := f.Bytes()
				want := test.want
				if eol != "\n" && strings.Contains(test.src, "\n") {
					want = strings.ReplaceAll(want, "\n", eol)
				}
				if diff := cmp.Diff(want, string(got)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}
