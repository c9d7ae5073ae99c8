package golang

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

const ruleMarkerMissing = "marker-missing" // other tools of this layout add nothing to the file

// scaffoldMarkers are the markers of main.go and of suites, and where they belong.
var scaffoldMarkers = []struct{ name, place string }{
	{"imports", "at the end of the imports"},
	{"scheme", "where types are registered"},
	{"builder", "where controllers are set up"},
	{"webhook", "where webhooks are set up"},
}

// checkMarkers finds files of the main package and suites that have lost scaffold
// markers. operon needs none, but other tools of this layout pass over a file
// without them and say nothing.
//
// A file that lost some of its markers lost them by accident. One without any is
// as its owner wants it, unless PROJECT says that such a tool works here too:
// that one writes cliVersion, and operon never does.
func (k checker) checkMarkers() error {
	if m := k.main; len(m.files) > 0 {
		k.missMarkers(m.files[0].Name, m.files, "imports", "scheme", "builder")
	}
	seen := map[string]bool{}
	for _, r := range k.c.Resources {
		for _, suite := range []struct {
			name    string
			markers []string
		}{
			{k.c.ControllerDir(r) + "/suite_test.go", []string{"imports", "scheme"}},
			{k.c.WebhookDir(r) + "/webhook_suite_test.go", []string{"imports", "scheme", "webhook"}},
		} {
			if seen[suite.name] {
				continue
			}
			seen[suite.name] = true
			if err := k.missSuiteMarkers(suite.name, suite.markers...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k checker) missSuiteMarkers(name string, markers ...string) error {
	if !k.p.Exists(name) {
		return nil
	}
	s, err := k.files.File(name)
	if s.Parsed != nil {
		k.missMarkers(name, source.Program{s}, markers...)
	}
	return err
}

// missMarkers warns about those markers that none of the files has.
func (k checker) missMarkers(name string, files source.Program, markers ...string) {
	var places, lines []string
	for _, m := range scaffoldMarkers {
		for _, wanted := range markers {
			if m.name == wanted && !files.Any(func(f *goedit.File) bool { return f.Has(goedit.Marker(m.name)) }) {
				places = append(places, m.name+" ("+m.place+")")
				lines = append(lines, "// +kubebuilder:scaffold:"+m.name)
			}
		}
	}
	if len(lines) == 0 || len(lines) == len(markers) && k.c.CLIVersion == "" {
		return
	}
	k.p.Warn(scaffold.Warning{File: name, Rule: ruleMarkerMissing, Lines: strings.Join(lines, "\n"),
		Message: fmt.Sprintf("scaffold markers that kubebuilder needs are missing: %s", strings.Join(places, ", "))})
}
