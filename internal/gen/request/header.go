package request

import (
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/overlay"
)

// checkHeader returns an error if a generator of Go code has a header that is not a Go comment.
// Its output would not compile, and the library would report positions in that output.
func checkHeader(g Options, file string, src *overlay.Project) error {
	if !isCode(g) {
		return nil
	}
	text, err := src.Open(file)
	if err != nil {
		return err
	}
	const rest = "\n\npackage afterTheHeader\n"
	f, err := parser.ParseFile(token.NewFileSet(), "", string(text)+rest, parser.PackageClauseOnly)
	const hint = "all Go files start with it: write one Go comment, or leave it empty"
	if list := (scanner.ErrorList)(nil); errors.As(err, &list) {
		return fault.Failed(hint, "%s: line %d is not part of a Go comment", file, list[0].Pos.Line)
	}
	if f.Name.Name != "afterTheHeader" {
		return fault.Failed(hint, "%s has a package clause", file)
	}
	return nil
}
