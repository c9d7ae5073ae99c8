package header

import (
	"go/parser"
	"go/token"
	"maps"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
)

func TestHeaderText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options   map[string]any
		want, err string // want is the start of the text; "" for an empty text
	}{
		"default":          {map[string]any{}, "/*\nCopyright 2026.\n\nLicensed under the Apache License", ""},
		"owner":            {map[string]any{"owner": "Dmitrii Zolotov"}, "/*\nCopyright 2026 Dmitrii Zolotov.\n\nLicensed", ""},
		"owner with a dot": {map[string]any{"owner": "Acme Inc.", "license": "copyright"}, "/*\nCopyright 2026 Acme Inc.\n*/\n", ""},
		"none":             {map[string]any{"license": "none", "owner": "X"}, "", ""},
		"file": {map[string]any{"license": "none", "license-file": "h.txt", licenseText: "// mine\r\n// too"},
			"// mine\n// too\n", ""},
		"empty file":                       {map[string]any{"license-file": "h.txt", licenseText: ""}, "", ""},
		"unknown":                          {map[string]any{"license": "mit"}, "", `unknown license "mit"`},
		"owner ends comment":               {map[string]any{"owner": "a */ b"}, "", `would end the comment`},
		"owner with line break":            {map[string]any{"owner": "a\nb"}, "", `line break`},
		"owner with control character":     {map[string]any{"owner": "a\x1bb"}, "", `control character`},
		"owner is not UTF-8":               {map[string]any{"owner": "a\xffb"}, "", `not UTF-8`},
		"file ends early":                  {map[string]any{"license-file": "h.txt", licenseText: "/* a */ package x /* b */"}, "", `"package" is outside a comment`},
		"file never ends":                  {map[string]any{"license-file": "h.txt", licenseText: "/* a"}, "", "comment not terminated"},
		"file is not a comment":            {map[string]any{"license-file": "h.txt", licenseText: "Copyright"}, "", `"Copyright" is outside a comment`},
		"file has a build constraint":      {map[string]any{"license-file": "h.txt", licenseText: "// a\n//go:build ignore"}, "", "is a directive"},
		"file has a marker":                {map[string]any{"license-file": "h.txt", licenseText: "// Copyright\n// +kubebuilder:rbac:groups=*,resources=*,verbs=*"}, "", "is a marker"},
		"file has a marker in a block":     {map[string]any{"license-file": "h.txt", licenseText: "/*\nCopyright\n *  +groupName=evil.example.com\n*/"}, "", "is a marker"},
		"file has an old build constraint": {map[string]any{"license-file": "h.txt", licenseText: "// +build ignore"}, "", "is a directive"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := headerText(eventWith(test.options), "2026")
			switch {
			case test.err != "":
				if err == nil || !strings.Contains(err.Error(), test.err) || fault.Code(err) != fault.CodeUsage {
					t.Errorf("got %v, want %q", err, test.err)
				}
			case err != nil || !strings.HasPrefix(got, test.want) || test.want == "" && got != "":
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// FuzzHeaderText checks that a Go file with any accepted owner or header parses, and that
// the header contains only comments.
func FuzzHeaderText(f *testing.F) {
	for _, s := range []string{"The Fleet Authors", "*/", "/*", "* /", "a\u2028b", "// x", "/* x */\n// y\n", "//go:build x", "/**/package y//", "\ufeff// x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, options := range []map[string]any{{"owner": s}, {"license-file": "h", licenseText: s}} {
			text, err := headerText(eventWith(options), "2026")
			if err != nil {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), "x.go", text+"\npackage x\n", parser.ParseComments)
			if err != nil {
				t.Fatalf("%q results in a header that does not parse: %v", s, err)
			}
			if file.Name.Name != "x" || file.GoVersion != "" {
				t.Errorf("%q results in a header with package %s and Go version %q", s, file.Name.Name, file.GoVersion)
			}
		}
	})
}

// licenseText stands for the content of the license file among options.
const licenseText = "text"

// eventWith returns an event with the options.
func eventWith(options map[string]any) plugin.Event {
	e := plugin.Event{Options: maps.Clone(options)}
	e.Environment.LicenseText, _ = options[licenseText].(string)
	delete(e.Options, licenseText)
	return e
}
