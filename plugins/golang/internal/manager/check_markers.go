package manager

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

const ruleMarkerMissing = "marker-missing" // kubebuilder cannot add code to the file

// scaffoldMarkers are kubebuilder's markers in main.go and in suites, and their places.
var scaffoldMarkers = []struct{ name, place string }{
	{"imports", "at the end of the imports"},
	{"scheme", "where types are registered"},
	{"builder", "where controllers are set up"},
	{"webhook", "where webhooks are set up"},
}

// markerPlace returns the place of a scaffold marker.
func markerPlace(name string) string {
	i := slices.IndexFunc(scaffoldMarkers, func(m struct{ name, place string }) bool { return m.name == name })
	return scaffoldMarkers[i].place
}

// checkMarkers warns about missing scaffold markers in the main package and in suites.
// operon does not need them, but kubebuilder skips files without them and reports no
// error.
//
// If only some markers of a file are missing, this is probably a mistake. If all are
// missing, the user removed them on purpose, and checkMarkers does not warn: a kind that
// kubebuilder then does not wire gets another warning. Nor does it warn about a project with
// places that kubebuilder does not know.
func (k checker) checkMarkers() error {
	if k.c.Places() != (project.Places{}) {
		return nil
	}
	if m := k.main; len(m.files) > 0 {
		k.warnMissingMarkers(m.files[0].Name, m.files, "imports", "scheme", "builder")
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
			if err := k.checkSuiteMarkers(suite.name, suite.markers...); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSuiteMarkers warns about missing markers in the suite at name, if it exists.
func (k checker) checkSuiteMarkers(name string, markers ...string) error {
	if !k.p.Exists(name) {
		return nil
	}
	s, err := k.files.File(name)
	if s.Parsed != nil {
		k.warnMissingMarkers(name, source.Program{s}, markers...)
	}
	return err
}

// warnMissingMarkers warns about the markers that none of the files has.
func (k checker) warnMissingMarkers(name string, files source.Program, markers ...string) {
	var places, lines []string
	for _, m := range scaffoldMarkers {
		for _, wanted := range markers {
			if m.name == wanted && !files.Any(func(f *goedit.File) bool { return f.Has(goedit.Marker(m.name)) }) {
				places = append(places, m.name+" ("+m.place+")")
				lines = append(lines, "// +kubebuilder:scaffold:"+m.name)
			}
		}
	}
	if len(lines) == 0 || len(lines) == len(markers) {
		return
	}
	k.p.Warn(scaffold.Warning{File: name, Rule: ruleMarkerMissing, Lines: strings.Join(lines, "\n"),
		Message: fmt.Sprintf("scaffold markers that kubebuilder needs are missing: %s", strings.Join(places, ", "))})
}
