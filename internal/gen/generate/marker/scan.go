package marker

import (
	"go/ast"
	"go/parser"
	"go/token"
	"runtime"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/scaffold"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/rbac"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// Scan is the result for the markers of one package. It does not depend on other
// packages.
type Scan struct {
	// Warnings are about markers that controller-gen silently ignores, and about arguments
	// that match nothing or that API servers refuse. They do not depend on which generators run.
	Warnings []scaffold.Warning
	// Joint has the texts of the markers of roles and webhook configurations, with the
	// plus sign.
	Joint []string
}

// Files returns the path of a file in the project, slash-separated and relative to the
// root. ok is false for files outside, about which there are no warnings.
type Files func(name string) (rel string, ok bool)

// All scans packages, and returns the results in their order.
func (v *Vocabulary) All(packages [][]*ast.File, fset *token.FileSet, in Files) []Scan {
	all := make([]Scan, len(packages))
	var group sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := part; i < len(all); i += runtime.GOMAXPROCS(0) {
				all[i] = v.scan(packages[i], fset, in)
			}
		})
	}
	group.Wait()
	return all
}

func (v *Vocabulary) scan(files []*ast.File, fset *token.FileSet, in Files) Scan {
	var s Scan
	found := findMarkers(files, v)
	markUsed(files, found)
	for _, m := range found {
		if m.used && joint(m.name) {
			s.Joint = append(s.Joint, m.text)
		}
		for _, w := range m.warnings(v, found, files) {
			pos := fset.Position(m.comment.Pos())
			rel, ok := in(pos.Filename)
			if !ok {
				continue
			}
			w.File, w.Line = rel, pos.Line
			w.Column += pos.Column
			s.Warnings = append(s.Warnings, w)
		}
	}
	return s
}

// joint reports whether a marker is for a generator that has one output for the markers
// of all roots. All such markers describe packages.
func joint(name string) bool {
	switch strings.TrimPrefix(name, "+") {
	case rbac.RuleDefinition.Name, webhook.ConfigDefinition.Name, webhook.WebhookConfigDefinition.Name:
		return true
	}
	return false
}

// Only returns a package that contains only markers, for generators that read nothing
// else.
func Only(fset *token.FileSet, markers []string) (*loader.Package, error) {
	lines := []string{"package p"}
	for _, m := range markers {
		lines = append(lines, "", "// "+m)
	}
	f, err := parser.ParseFile(fset, "", strings.Join(lines, "\n"), parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &loader.Package{Package: &packages.Package{Syntax: []*ast.File{f}}}, nil
}
