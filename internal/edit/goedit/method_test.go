package goedit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
)

const methods = `package p

type R struct{}

func (r *R) Reconcile(ctx C, req Q) (Res, error) {
	obj := &T{}
	err := r.Client.Get(ctx, req.NamespacedName, obj)
	if err != nil {
		return Res{}, err
	}
	var other S
	if err := r.Get(ctx, key, &other); err != nil {
		return Res{}, err
	}
	return Res{}, nil
}

func (Other) Reconcile() {}

func (x *R) Setup(m M) error {
	return New(m).
		For(&T{}). // mine
		// The name.
		Named("t").
		Complete(x)
}

func (R) Short(m M) error { return New(m).For(&T{}).Complete(nil) }

func (r R) Split(m M) error {
	b := New(m).For(
		&T{},
		With(a),
	)
	return b.Complete(r)
}
`

func TestMethodAnchors(t *testing.T) {
	t.Parallel()
	f := parse(t, methods)
	for name, want := range map[string]string{"R.Setup": "x", "R.Reconcile": "r", "R.Short": "", "Other.Reconcile": "", "R.Gone": ""} {
		if got := f.Receiver(name); got != want {
			t.Errorf("receiver of %s is %q, want %q", name, got, want)
		}
		if got, want := f.HasFunc(name), name != "R.Gone"; got != want {
			t.Errorf("has %s: %t, want %t", name, got, want)
		}
	}
	if diff := cmp.Diff([]string{"ctx", "req.NamespacedName", "obj"}, f.ArgumentsIn("R.Reconcile", "Get", "NamespacedName")); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if got := f.ArgumentsIn("R.Setup", "Named", "T"); got != nil { // earlier links of the chain are not arguments
		t.Errorf("arguments of Named that mention T: %q", got)
	}
	if err := f.Insert("if !r.mine(obj) {\n\treturn Res{}, nil\n}", AfterMention("R.Reconcile", "Get", "NamespacedName")); err != nil {
		t.Fatal(err)
	}
	wantEdit(t, f, `	if err != nil {
		return Res{}, err
	}
	if !r.mine(obj) {
		return Res{}, nil
	}
	var other S
`)
	if !f.MentionedIn("R.Reconcile", "mine") || f.MentionedIn("R.Setup", "mine") {
		t.Error("the new lines are found in another method")
	}
}

func TestAfterNext(t *testing.T) {
	t.Parallel()
	f := parse(t, `package p

func (r R) Reconcile() {
	first := r.obj.DeepCopy()
	if r.gone() {
		return
	}
	before := r.obj.DeepCopy()
	use(first, before)
}
`)
	if err := f.Insert("r.ensure()", AfterNext("R.Reconcile", "gone", "DeepCopy")); err != nil {
		t.Fatal(err)
	}
	wantEdit(t, f, "\tuse(first, before)\n\tr.ensure()\n")
	for _, name := range []string{"use", "absent"} {
		if err := f.Insert("r.more()", AfterNext("R.Reconcile", name, "DeepCopy")); err == nil {
			t.Errorf("found a place next to %s", name)
		}
	}
}

func TestAddCall(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ call, want string }{
		"R.Setup": {"Owns(&X{})", "\t\tFor(&T{}). // mine\n\t\tOwns(&X{}).\n\t\t// The name.\n\t\tNamed(\"t\").\n"},
		"R.Short": {"Owns(&X{})", "return New(m).For(&T{}).Owns(&X{}).Complete(nil) }"},
		"R.Split": {"Owns(&X{})", "\t\tWith(a),\n\t).Owns(&X{})\n"},
		"R.":      {"Watches(&X{},\n\tH)", ""},
	} {
		f := parse(t, methods)
		err := f.AddCall(name, tt.call, "For", "Owns")
		if tt.want == "" {
			if err == nil || !strings.Contains(fault.HintOf(err), "Watches(&X{},") {
				t.Errorf("%s: error %v, hint %q", name, err, fault.HintOf(err))
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantEdit(t, f, tt.want)
	}
	f := parse(t, methods)
	for _, call := range []string{"Owns(&X{})", "Owns(&Y{},\n\tO)"} {
		if err := f.AddCall("R.Setup", call, "For", "Owns"); err != nil {
			t.Fatal(err)
		}
	}
	wantEdit(t, f, "\t\tOwns(&X{}).\n\t\tOwns(&Y{},\n\t\t\tO).\n\t\t// The name.\n")
}

// TestAddCallOfSeveralLines checks that a multi-line call is formatted as by
// gofmt, even in a chain on one line.
func TestAddCallOfSeveralLines(t *testing.T) {
	t.Parallel()
	for _, chain := range []string{"return New(m).For(&T{}).Complete(nil)", "b = b.For(&T{})"} {
		src := "package p\n\nfunc setUp() error {\n\tif true {\n\t\t" + chain + "\n\t}\n}\n"
		for _, eol := range []string{"\n", "\r\n"} {
			f := parse(t, strings.ReplaceAll(src, "\n", eol))
			if err := f.AddCall("setUp", "Watches(&X{},\n\tH)", "For"); err != nil {
				t.Fatal(err)
			}
			wantEdit(t, f, ".For(&T{}).Watches(&X{},"+eol+"\t\t\tH)")
		}
	}
}

func TestAddOption(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"R.Setup": "\t\tFor(&T{}, b.With(p)). // mine\n",
		"R.Split": "\t\tWith(a, p),\n\t)\n", // a second With would replace the first
	} {
		f := parse(t, methods)
		if err := f.AddOption(name, "For", "b.With", "p"); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantEdit(t, f, want)
	}
	f := parse(t, methods)
	if err := f.AddOption("R.Reconcile", "For", "b.With", "p"); err == nil || !strings.Contains(fault.HintOf(err), "b.With(p)") {
		t.Errorf("without the call: error %v, hint %q", err, fault.HintOf(err))
	}
}

func parse(t *testing.T, src string) *File {
	t.Helper()
	f, err := Parse("p.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantEdit checks that the source of f contains the text.
func wantEdit(t *testing.T, f *File, want string) {
	t.Helper()
	got, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(got), want) {
		t.Errorf("want\n%s\nin\n%s", want, got)
	}
}

func TestStartOfFunc(t *testing.T) {
	t.Parallel()
	const src = `package p

func (r R) commented(ctx C, t, u T) (Res, error) {
	// Your code.

	return Res{}, nil
}

func (r R) coded(C) error { // why
	x := 1
	return use(x)
}

func (r R) short() error { return nil }

func (r R) empty() {
}
`
	for fn, want := range map[string]string{
		"R.commented": "error) {\n\tr.ensure()\n\n\t// Your code.\n",
		"R.coded":     "{ // why\n\tr.ensure()\n\tx := 1\n",
		"R.short":     "error {\n\tr.ensure()\n\treturn nil\n}\n",
		"R.empty":     "empty() {\n\tr.ensure()\n}\n",
	} {
		f := parse(t, src)
		if err := f.Insert("r.ensure()", StartOfFunc(fn)); err != nil {
			t.Errorf("%s: %v", fn, err)
			continue
		}
		wantEdit(t, f, want)
	}
	f := parse(t, src)
	if err := f.Insert("r.ensure()", StartOfFunc("R.absent")); err == nil {
		t.Error("found the start of a missing function")
	}
	for fn, want := range map[string]struct {
		params  []string
		results int
	}{
		"R.commented": {[]string{"ctx", "t", "u"}, 2}, "R.coded": {nil, 1}, "R.empty": {nil, 0}, "R.absent": {nil, 0},
	} {
		params, results := f.Signature(fn)
		if diff := cmp.Diff(want.params, params); diff != "" || results != want.results {
			t.Errorf("%s has %d results, want %d; parameters (-want +got):\n%s", fn, results, want.results, diff)
		}
	}
}

func TestTakings(t *testing.T) {
	t.Parallel()
	f := parse(t, `package p

func (r *R) Reconcile() (Res, error) {
	if err := r.finalize(r.clean); err != nil {
		return Res{}, err
	}
	_, _ = (r.clean()), func() error { return r.clean() }
	f, err := r.other.clean()
	return r.clean()
}

func (R) clean() (Res, error) { return r.clean() }

func (x R) more() { x.clean() }

func (r *S) Reconcile() { a, b := r.clean() }

func Reconcile() { a, b := r.clean() }
`)
	got := map[string][]CallSite{"clean": f.CallSites("R", "clean"), "finalize": f.CallSites("R", "finalize"), "none": f.CallSites("R", "none")}
	want := map[string][]CallSite{"clean": {{"Reconcile", 1}, {"Reconcile", 2}}, "finalize": {{"Reconcile", 1}}, "none": nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
