package gen

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

// scan is what the markers of a root come to without the other roots.
type scan struct {
	warnings []scaffold.Warning
	markers  []string // that make roles and webhook configurations, with the plus sign
}

// scanAll scans the roots of a set, in their order.
func scanAll(set *packageSet, src *sources) []scan {
	known := newVocabulary()
	all := make([]scan, len(set.roots))
	var group sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := part; i < len(all); i += runtime.GOMAXPROCS(0) {
				all[i] = scanMarkers(set.roots[i], known, set.fset, src)
			}
		})
	}
	group.Wait()
	return all
}

func scanMarkers(root *loader.Package, known *vocabulary, fset *token.FileSet, src *sources) scan {
	var s scan
	found := findMarkers(root, known)
	markUsed(root, found)
	for _, m := range found {
		if m.used && joint(m.name) {
			s.markers = append(s.markers, m.text)
		}
		for _, w := range m.warnings(known) {
			pos := fset.Position(m.comment.Pos())
			rel, ok := inProject(src.dir, pos.Filename)
			if !ok {
				continue // a package of another module is not this user's to mend
			}
			w.File, w.Line = rel, pos.Line
			w.Column += pos.Column
			s.warnings = append(s.warnings, w)
		}
	}
	return s
}

// joint reports whether a marker is read by a generator that makes one output of
// those of all roots. Such markers describe packages and nothing else.
func joint(name string) bool {
	switch strings.TrimPrefix(name, "+") {
	case rbac.RuleDefinition.Name, webhook.ConfigDefinition.Name, webhook.WebhookConfigDefinition.Name:
		return true
	}
	return false
}

// onlyMarkers is a package with markers and nothing else, for generators that
// look at nothing else.
func onlyMarkers(fset *token.FileSet, markers []string) (*loader.Package, error) {
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
