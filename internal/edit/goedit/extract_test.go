package goedit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const extractSource = `package main

import (
	"example.org/cache" // ours

	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	start()
	// The manager.
	mgr, err := ctrl.NewManager(config(), ctrl.Options{
		Name: "x", // by hand
	}, nil)
	use(mgr, err)
}
`

var newManager = []Symbol{{Path: "sigs.k8s.io/controller-runtime", Name: "NewManager"}}

func TestHoistArgumentThereAndBack(t *testing.T) {
	t.Parallel()
	for _, eol := range []string{"\n", "\r\n"} {
		src := strings.ReplaceAll(extractSource, "\n", eol)
		f := parse(t, src)
		if err := f.ExtractArgument("main", newManager, 1, "options", "names, err := read()\nif err != nil {\n\tpanic(err)\n}", "%s.Cache.Names = names"); err != nil {
			t.Fatal(err)
		}
		wantEdit(t, f, strings.ReplaceAll(`	// The manager.
	names, err := read()
	if err != nil {
		panic(err)
	}
	options := ctrl.Options{
		Name: "x", // by hand
	}
	options.Cache.Names = names

	mgr, err := ctrl.NewManager(config(), options, nil)
`, "\n", eol))
		for _, undo := range []error{
			f.DropCall("main", "read"), f.DropAssign("main", "Cache.Names"), f.InlineArgument("main", newManager, 1, "options"),
		} {
			if undo != nil {
				t.Fatal(undo)
			}
		}
		got, _ := f.Bytes()
		if diff := cmp.Diff(src, string(got)); diff != "" {
			t.Errorf("extracted and inlined (-before +after):\n%s", diff)
		}
	}
}

func TestHoistVariable(t *testing.T) {
	t.Parallel()
	src := strings.Replace(extractSource, "ctrl.Options{\n\t\tName: \"x\", // by hand\n\t}", "mine", 1)
	f := parse(t, src)
	if err := f.ExtractArgument("main", newManager, 1, "options", "before()", "%s.Set()"); err != nil {
		t.Fatal(err)
	}
	wantEdit(t, f, "\tbefore()\n\tmine.Set()\n\n\tmgr, err := ctrl.NewManager(config(), mine, nil)\n")
	f = parse(t, src)
	if err := f.ExtractArgument("main", newManager, 3, "options", "", ""); err == nil {
		t.Error("a missing argument was extracted")
	}
}

// TestInlineKeeps checks that lines changed by the user stay.
func TestInlineKeeps(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]string{
		"a comment between": "options := ctrl.Options{}\n\t// mine\n\tmgr, err := ctrl.NewManager(c, options)",
		"a second use":      "options := ctrl.Options{}\n\tmgr, err := ctrl.NewManager(c, options)\n\tuse(options)",
		"a line between":    "options := ctrl.Options{}\n\tother()\n\tmgr, err := ctrl.NewManager(c, options)",
		"another variable":  "mine := ctrl.Options{}\n\tmgr, err := ctrl.NewManager(c, mine)",
	} {
		src := "package main\n\nimport ctrl \"sigs.k8s.io/controller-runtime\"\n\nfunc main() {\n\t" + lines + "\n}\n"
		f := parse(t, src)
		if err := f.InlineArgument("main", newManager, 1, "options"); err != nil {
			t.Fatal(err)
		}
		if got, _ := f.Bytes(); string(got) != src {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

func TestDropFunc(t *testing.T) {
	t.Parallel()
	const text = "// read reads.\nfunc read() int {\n\treturn 1\n}\n"
	for src, want := range map[string]string{
		"package p\n\n" + text:                                              "package p\n",
		"package p\n\n" + text + "\nfunc other() {}\n":                      "package p\n\nfunc other() {}\n",
		"package p\n\n" + strings.ReplaceAll(text, "1", "2"):                "", // the user's
		"package p\n\nfunc read() int {\n\treturn 1\n}\n":                   "", // without its comment
		"package p\n\n// read is older.\n" + text[len("// read reads.\n"):]: "package p\n",
		"package p\r\n\r\n" + strings.ReplaceAll(text, "\n", "\r\n"):        "package p\r\n",
	} {
		f := parse(t, src)
		dropped, err := f.DropFunc("read", text)
		if err != nil || dropped != (want != "") {
			t.Errorf("dropped %t, error %v:\n%s", dropped, err, src)
		}
		if want == "" {
			want = src
		}
		if got, _ := f.Bytes(); string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDropImport(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nvar _ = os.Args\n":                "package p\n\nimport (\n\t\"os\"\n)\n\nvar _ = os.Args\n",
		"package p\n\nimport (\n\t\"os\"\n\n\t\"fmt\"\n)\n\nvar _ = os.Args\n":              "package p\n\nimport (\n\t\"os\"\n)\n\nvar _ = os.Args\n",
		"package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nvar _, _ = os.Args, fmt.Sprint\n": "",
		"package p\n\nimport (\n\t_ \"fmt\"\n)\n":                                           "",
		"package p\n\nimport (\n\t. \"fmt\"\n)\n\nvar _ = Sprint\n":                         "",
		"package p\n\nimport (\n\t\"fmt\" // mine\n\t\"os\"\n)\n\nvar _ = os.Args\n":        "", // a comment of the user stays
	} {
		f := parse(t, src)
		if err := f.DropImport("fmt"); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = src
		}
		if got, _ := f.Bytes(); string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRetext(t *testing.T) {
	t.Parallel()
	f := parse(t, "package p\n\nfunc f() {\n\tb.Named(\"old\").Named(`old`)\n\tlog.Error(err, \"old\", \"controller\", \"old\", \"k\", \"old\")\n\tname(\"old\")\n}\n")
	if !f.Calls("Named", "old") || f.Calls("Named", "new") {
		t.Error("Calls found another string")
	}
	for _, key := range [][2]string{{"Named", ""}, {"Error", "controller"}} {
		if err := f.ReplaceString(key[0], key[1], "old", "new"); err != nil {
			t.Fatal(err)
		}
	}
	wantEdit(t, f, "\tb.Named(\"new\").Named(\"new\")\n\tlog.Error(err, \"old\", \"controller\", \"new\", \"k\", \"old\")\n\tname(\"old\")\n")
}
