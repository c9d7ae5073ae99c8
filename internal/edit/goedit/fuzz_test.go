package goedit

import (
	"bytes"
	"go/format"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

const fuzzText = "if err := setup(mgr, `a\n b`); err != nil {\n\treturn\n}"

var importable = regexp.MustCompile(`^[a-z0-9][a-zA-Z0-9._/-]*$`)

// FuzzGo applies each kind of edit to any source that parses and checks the
// common rules: the result parses, repeating the edit changes nothing, no text
// is lost, and a gofmt-clean file stays clean with every existing line
// unchanged.
func FuzzGo(f *testing.F) {
	const imports = "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\n\t// why\n\t_ \"a.org/a\"\n\n\tb \"a.org/b\" // b\n" +
		"\t// +kubebuilder:scaffold:imports\n)\n\n"
	for _, src := range []string{
		"package main\n",
		"package main; func main() { mgr.Start() }",
		imports + "func init() {}\n\nfunc main() {\n\ta()\n\t// c\n\tmgr.Start(`x\n`) // d\n\n\t// +kubebuilder:scaffold:builder\n}\n",
		imports + "func init() { AddToScheme() }\n\n// Frigate is.\ntype Frigate struct{}\n",
		"package main\n\nimport \"C\"\n\nimport \"fmt\"\n\n// +kubebuilder:object:root=true\n\n// Frigate is.\ntype (\n\t// F\n\tFrigate int\n)\n",
		"package main\n\nvar _ = init(func() { /* x */ })\n\nfunc main() {\n\tif mgr := x; true {\n\t\tgo mgr.Start()\n\t}\n}\n",
		"package main\nimport (\"os\"; x \"fmt\" /* a\nb */)\nfunc init() {\n\terr := s.AddToScheme(); f(err)\n\tif err != nil { return }\n}\n",
		"package main\n\nfunc init() {\n\tx := 1   // a\n\tyy := 22 // b\n\treturn\n}\n",
	} {
		f.Add([]byte(src), "ship", "a.org/api/v1")
		f.Add([]byte(strings.ReplaceAll(src, "\n", "\r\n")), "", "net/http")
	}
	f.Fuzz(func(t *testing.T, src []byte, name, path string) {
		if _, err := Parse("main.go", src); err != nil || !importable.MatchString(path) ||
			name != "" && (!token.IsIdentifier(name) || name == "_") {
			t.Skip()
		}
		checkEdits(t, src, name, path)
	})
}

// FuzzGoShape does the same with sources composed of typical parts of files,
// because few random changes of a source parse.
func FuzzGoShape(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, uint8(0))
	f.Add([]byte{9, 10, 8, 7, 0, 5, 3, 1, 1, 2, 14, 15, 16, 3, 4, 21}, uint8(1))
	f.Add([]byte{5, 6, 0, 0, 5, 0, 5, 0, 3, 2, 1, 7, 5, 3, 0, 4, 18, 19, 20}, uint8(2))
	f.Add([]byte{2, 4, 2, 4, 2, 2, 1, 0, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, uint8(3))
	f.Fuzz(func(t *testing.T, picks []byte, form uint8) {
		src := []byte(shape(picks))
		if form&1 != 0 {
			if out, err := format.Source(src); err == nil {
				src = out
			}
		}
		if form&2 != 0 {
			src = bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))
		}
		if form&4 != 0 {
			src = bytes.TrimSpace(src)
		}
		if _, err := Parse("main.go", src); err != nil {
			t.Skip()
		}
		name := []string{"", "ship", "a", "b2"}[form>>3&3]
		path := []string{"a.org/a", "os", "net/http", "b.org/api/v1"}[form>>5&3]
		checkEdits(t, src, name, path)
	})
}

// shape writes a source file. Each byte of picks selects one of its parts.
func shape(picks []byte) string {
	var b strings.Builder
	pick := func(from ...string) {
		if len(picks) == 0 {
			b.WriteString(from[0])
			return
		}
		b.WriteString(from[int(picks[0])%len(from)])
		picks = picks[1:]
	}
	some := func(from ...string) {
		for range 4 {
			pick(append([]string{""}, from...)...)
		}
	}
	pick("", "// Doc.\n", "/* Doc. */ ")
	pick("package main\n", "package main // p\n", "package main\n\n", "package main /* a\nb */\n")
	for range 2 {
		pick("", "import \"a.org/y\"\n", "import \"C\"\n", "\nimport (\n", "import ()\n", "import ( x \"a.org/x\" )\n")
		if strings.HasSuffix(b.String(), "(\n") {
			some("\t\"os\"\n", "\t\"fmt\"  // f\n", "\n", "\t// c\n", "\t\"a.org/b\"\n", "\tctrl \"a.org/c\" // c\n", "\t_ \"a.org/a\"\n",
				"\t// +kubebuilder:scaffold:imports\n", "\t\"b.org/b\" /* a\n b */\n", "/*\n*/ \"d.org/d\"; \"d.org/e\"\n")
			b.WriteString(")\n")
		}
	}
	some("\n", "// +kubebuilder:object:root=true\n", "// c\n", "var x = 1 // +kubebuilder:x\n", "/* a\nb */\n", "//\tcode\n")
	pick("type Frigate int\n", "type (\n\t// +kubebuilder:x\n\n\t// d\n\tFrigate int\n)\n", "type (\n\tX int; Frigate int\n)\n", "")
	for _, fn := range []string{"func init() {", "func main() {", "var _ = init(func() {"} {
		b.WriteString("\n" + fn)
		pick("\n", " ", " // c\n", " /* a\n b */\n")
		some("\tif err := mgr.Start(`x\n`); err != nil {\n\t\treturn\n\t}\n", "\terr := a.AddToScheme()\n", "\tf(err)\n", "\t// c\n", "\n",
			"\ta() // d\n", "\tbb()   // e\n", "mgr.Start();", "AddToScheme() /* a\n b */\n", "\tif mgr := x; true { mgr.Start() }\n",
			"\t// +kubebuilder:scaffold:builder\n", "\tswitch {\n\tcase true: mgr.Start()\n\t}\n", "\treturn\n", "AddToScheme()")
		b.WriteString("}" + strings.Repeat(")", strings.Count(fn, "(func")) + "\n")
	}
	return b.String()
}

func checkEdits(t *testing.T, src []byte, name, path string) {
	t.Helper()
	for what, edit := range map[string]func(*File) error{
		"import": func(f *File) error {
			if local := f.Import(name, path); f.Import(name, path) != local {
				t.Errorf("local name %q, then %q", local, f.Import(name, path))
			}
			return f.err
		},
		"mark":   func(f *File) error { return f.MarkType("Frigate", "+kubebuilder:storageversion") },
		"marker": func(f *File) error { return f.Insert(fuzzText, Marker("builder")) },
		"before": func(f *File) error { return f.Insert(fuzzText, BeforeCall("main", "mgr.Start")) },
		"after":  func(f *File) error { return f.Insert(fuzzText, AfterCall("init", "AddToScheme")) },
		"end":    func(f *File) error { return f.Insert(fuzzText, EndOfFunc("init")) },
		"calls": func(f *File) error {
			if f.CallsIn("main", "With") {
				return nil
			}
			return f.InsertCalls("main", "Start", []string{"With(&x{})", "At(`/`)"})
		},
		"decls": func(f *File) error {
			if f.Declares()["Sloop"] > 0 {
				return nil
			}
			return f.InsertDecls("// +a\n\n// Sloop is.\ntype Sloop struct{}\n\nfunc (Sloop) f() {\n}\n", "Frigate")
		},
	} {
		once, err := apply(t, src, edit)
		if err != nil {
			lost := strings.Contains(err.Error(), "found no place") || strings.Contains(err.Error(), "do not parse")
			if lost && what != "marker" {
				t.Errorf("%s: %v in\n%s", what, err, src)
			}
			continue
		}
		if twice, err := apply(t, once, edit); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s is not idempotent: %v\n%s\n--- twice\n%s", what, err, once, twice)
		}
		checkKept(t, what, src, once)
	}
}

func apply(t *testing.T, src []byte, edit func(*File) error) ([]byte, error) {
	t.Helper()
	f, err := Parse("main.go", src)
	if err != nil {
		t.Fatalf("the edited source does not parse: %v\n%s", err, src)
	}
	if err := edit(f); err != nil {
		return nil, err
	}
	return f.Bytes()
}

func checkKept(t *testing.T, what string, src, out []byte) {
	t.Helper()
	loose := func(r rune) bool { return strings.ContainsRune(" \t\r\n;", r) }
	text := strings.Join(strings.FieldsFunc(string(src), loose), "")
	if !inOrder(strings.Split(text, ""), strings.Split(string(out), "")) {
		t.Errorf("%s: text is lost:\n%s\n--- from\n%s", what, out, src)
	}
	if !formatted(src) {
		return
	}
	// Separating two lines that gofmt aligns changes them.
	if pretty, err := format.Source(out); err != nil || !inOrder(unaligned(pretty), unaligned(out)) {
		t.Errorf("%s: not gofmt-clean any more:\n%s\n--- from\n%s", what, out, src)
	}
	if what == "calls" {
		return // text may go inside a line
	}
	var kept []string
	for line := range strings.Lines(string(src)) {
		if !strings.Contains(line, "{") || !strings.Contains(line, "}") { // a body on one line is unfolded
			kept = append(kept, line)
		}
	}
	var have []string
	for line := range strings.Lines(string(out)) {
		have = append(have, line)
	}
	if !inOrder(kept, have) {
		t.Errorf("%s: lines changed:\n%s\n--- from\n%s", what, out, src)
	}
}

func unaligned(src []byte) []string {
	var lines []string
	for line := range strings.Lines(string(src)) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

// inOrder reports whether list contains all of part in order.
func inOrder(part, list []string) bool {
	for _, s := range list {
		if len(part) > 0 && part[0] == s {
			part = part[1:]
		}
	}
	return len(part) == 0
}
