package golang

import (
	"maps"
	"testing"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
)

// TestYearOfHeader checks that the header of new files has the year of existing files.
func TestYearOfHeader(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string
		text  string
		year  string
		want  string // the year, or the header
	}{
		"main.go":    {files: map[string]string{project.DefaultMainFile: "/*\r\nCopyright 2024.\r\nAll of it.\r\n*/\r\n"}, year: "2031", want: "2024"},
		"generated":  {files: map[string]string{project.DefaultMainFile: "", "api/v1/zz_generated.deepcopy.go": "//go:build x\n\n/*\nCopyright 2025.\nAll of it.\n*/\n"}, year: "2031", want: "2025"},
		"other text": {files: map[string]string{project.DefaultMainFile: "/*\nCopyright 2024.\nNothing.\n*/\n"}, year: "2031", want: "2031"},
		"init":       {year: "2030", want: "2030"},
		"none":       {want: "YEAR"},
		"part":       {text: "/*\nYEARLY and (c)YEAR.\n*/\n", year: "2031", want: "/*\nYEARLY and (c)2031.\n*/\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, want := test.text, test.want
			if text == "" {
				text, want = "/*\nCopyright YEAR.\nAll of it.\n*/\n", "/*\nCopyright "+test.want+".\nAll of it.\n*/\n"
			}
			files := map[string]string{header.File: text}
			maps.Copy(files, test.files)
			x := start(t, files)
			e := x.createAPI(frigate())
			e.Project, e.Environment.Year = x.cfg, test.year
			p, err := x.plan()
			if err != nil {
				t.Fatal(err)
			}
			got, err := header.Read(e, p)
			if err != nil || got != want {
				t.Errorf("got %v, %q, want %q", err, got, want)
			}
		})
	}
}

func TestLicenseFileWithYear(t *testing.T) {
	t.Parallel()
	x := start(t, nil)
	first := plugin.Event{Type: plugin.Init, Options: map[string]any{"repo": "example.org/fleet", "license-file": "h.txt"},
		Environment: plugin.Environment{Year: "2026", LicenseText: "// (c)YEAR Me, as in EVERY_YEAR and YEARLY\n"}}
	x.apply(first)
	x.contains(header.File, "// (c)2026 Me, as in EVERY_YEAR and YEARLY\n") // so that controller-gen writes the same
	x.contains(project.DefaultMainFile, "// (c)2026 Me, as in EVERY_YEAR and YEARLY\n")
	first.Environment.Year = "2031"
	p, err := x.plan(first)
	if err != nil || len(paths(p)) > 0 {
		t.Errorf("in a later year: %v, %v", paths(p), err)
	}
	x.apply(x.createAPI(frigate()))
	x.contains("api/v1/frigate_types.go", "// (c)2026 Me, as in EVERY_YEAR and YEARLY\n")
}
