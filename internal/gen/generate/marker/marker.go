// Package marker reads the markers of packages. It reports the markers that
// controller-gen silently ignores.
package marker

import (
	"go/ast"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// marker is a marker comment of a root package.
type marker struct {
	comment *ast.Comment
	text    string // trimmed, starting with the plus sign
	bare    bool   // the comment lacks the plus sign
	name    string // with the plus sign, without arguments
	file    *ast.File
	scopes  int      // bit 1<<target for each target that the name is registered for
	used    bool     // the collector attached it to a node of such a target
	node    ast.Node // that node
}

// findMarkers returns the markers in line comments. controller-gen ignores markers in
// other comments.
func findMarkers(files []*ast.File, known *Vocabulary) []*marker {
	var found []*marker
	for _, file := range files {
		for _, group := range file.Comments {
			for _, c := range group.List {
				text, ok := strings.CutPrefix(c.Text, "//")
				text = strings.TrimSpace(text)
				bare := isBare(text)
				if bare {
					text = "+" + text
				}
				if !ok || !strings.HasPrefix(text, "+") {
					continue
				}
				if scopes, name := known.lookup(text); !bare || scopes != 0 {
					found = append(found, &marker{comment: c, text: text, name: name, file: file, scopes: scopes, bare: bare})
				}
			}
		}
	}
	return found
}

// isBare reports whether a text looks like a marker without its plus sign, and not like a sentence.
func isBare(text string) bool {
	return strings.HasPrefix(text, "kubebuilder:") && !strings.ContainsAny(quotedText().ReplaceAllString(text, ""), " \t")
}

var quotedText = lazyregexp.New(`"(?:[^"\\]|\\.)*"|` + "`[^`]*`")

// markUsed sets used for the markers that have an effect. It temporarily replaces each
// marker with a numbered one that is registered for the same targets, and runs the
// collector. The collector returns the numbers of the markers with an
// effect.
func markUsed(files []*ast.File, found []*marker) {
	targets := []markers.TargetType{markers.DescribesPackage, markers.DescribesType, markers.DescribesField}
	reg := &markers.Registry{}
	for scopes := 1; scopes < 1<<len(targets); scopes++ {
		for _, t := range targets {
			if scopes&(1<<t) != 0 {
				_ = reg.Define(probe(scopes), t, number(0)) // the target exists, so this cannot fail
			}
		}
	}
	for i, m := range found {
		if m.scopes == 0 || m.bare {
			continue
		}
		original := m.comment.Text
		defer func() { m.comment.Text = original }()
		m.comment.Text = "//+" + probe(m.scopes) + "=" + strconv.Itoa(i)
	}
	col := &markers.Collector{Registry: reg}
	nodes, err := col.MarkersInPackage(&loader.Package{Package: &packages.Package{Syntax: files}})
	if err != nil {
		return // unreachable: all numbered markers parse
	}
	for node, values := range nodes {
		for _, list := range values {
			for _, i := range list {
				m := found[i.(number)]
				m.used, m.node = true, node
			}
		}
	}
}

// number is the number of a marker. The library parses other types with a scanner, which needs a kilobyte of memory
// for each marker.
type number int

// ParseMarker implements the library's interface for types that parse themselves.
func (n *number) ParseMarker(_, _, text string) error {
	i, err := strconv.Atoi(text)
	*n = number(i)
	return err
}

func probe(scopes int) string { return "operon:probe" + strconv.Itoa(scopes) }
