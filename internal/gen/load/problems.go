package load

import (
	"cmp"
	"fmt"
	"go/ast"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"golang.org/x/tools/go/packages"
)

// Problem is an error in the sources, with its position.
type Problem struct {
	File         string // relative to the root if it is below it; "" if unknown
	Line, Column int    // from 1; 0 if unknown
	Message      string

	module string // the folder of its module, relative to the root; "" for the root
}

// String returns file:line:column: message, without unknown parts. A file name with line breaks
// is quoted.
func (p Problem) String() string {
	place := p.File
	if strings.ContainsAny(place, "\r\n") {
		place = strconv.Quote(place)
	}
	for _, n := range []int{p.Line, p.Column} {
		if place != "" && n > 0 {
			place += ":" + strconv.Itoa(n)
		}
	}
	if place == "" {
		return p.Message
	}
	return place + ": " + p.Message
}

// Problems are all errors of a run, sorted by position, without duplicates. Those
// without a position come last.
type Problems []Problem

// maxPrinted is the number of problems that an error prints. One mistake can have hundreds of places.
const maxPrinted = 20

// Error implements error, with a line for each of the first problems.
func (p Problems) Error() string {
	var lines []string
	for _, q := range p[:min(len(p), maxPrinted)] {
		lines = append(lines, q.String())
	}
	if more := len(p) - maxPrinted; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more; --output json lists all", more))
	}
	return strings.Join(lines, "\n")
}

// CollectProblems returns the errors of all packages, and those that generators returned.
// Like controller-gen, it ignores most type errors. Packages that no generated type needs are
// not loaded, so references to them do not resolve. The generators report the type errors
// that matter, apart from those about the declarations themselves.
//
// Errors in generated code are omitted if there are other errors, which cause them.
func CollectProblems(set *Set, returned []error, src *overlay.Project) Problems {
	var all, made Problems
	for _, err := range returned {
		all = append(all, Problem{Message: src.Shorten(err.Error())})
	}
	seen := map[*packages.Package]bool{}
	for _, root := range set.Roots {
		module := moduleOfPackage(root.Package, src)
		packages.Visit([]*packages.Package{root.Package}, func(pkg *packages.Package) bool { return !seen[pkg] }, func(pkg *packages.Package) {
			if seen[pkg] {
				return
			}
			seen[pkg] = true
			for _, e := range reported(pkg) {
				if p := newProblem(e, module, src); inGenerated().MatchString(e.Pos) {
					made = append(made, p)
				} else {
					all = append(all, p)
				}
			}
		})
	}
	if len(all) == 0 {
		all = made
	}
	if slices.ContainsFunc(all, func(p Problem) bool { return p.File != "" }) {
		all = slices.DeleteFunc(all, func(p Problem) bool { return p.File == "" && echo().MatchString(p.Message) })
	}
	slices.SortFunc(all, func(a, b Problem) int {
		if (a.File == "") != (b.File == "") {
			return -cmp.Compare(a.File, b.File)
		}
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}

// reported returns the errors of a package without type errors that only the compiler needs to
// report. It keeps those about the declarations of types, which the generators read: of two
// declarations they would use one, and recursive types would exhaust their stack. Packages main
// are left out, because their files may be separate programs.
func reported(p *packages.Package) []packages.Error {
	var all []packages.Error
	keep := false
	seen := map[packages.Error]bool{} // the loader adds the first error again at the end
	for _, e := range p.Errors {
		detail, is := strings.CutPrefix(e.Msg, "\t") // of the error before it
		switch {
		case e.Kind != packages.TypeError:
			all = append(all, e)
		case !is:
			if keep = p.Name != "main" && !seen[e] && inDeclaration(e.Msg, p.Syntax); keep {
				all, seen[e] = append(all, e), true
			}
		case keep && strings.HasPrefix(detail, "other declaration"):
			all[len(all)-1].Msg += "; the other declaration is at " + e.Pos
		case keep:
			all[len(all)-1].Msg += "; " + detail
		}
	}
	return all
}

// inDeclaration reports whether a message of go/types is about the declaration of a type or of
// a field.
func inDeclaration(msg string, files []*ast.File) bool {
	if recursive(msg) {
		return true
	}
	name, isField := strings.CutSuffix(msg, " redeclared")
	if isField {
		return true
	}
	name, twice := strings.CutSuffix(name, " redeclared in this block")
	return twice && slices.ContainsFunc(files, func(f *ast.File) bool {
		return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
			g, ok := d.(*ast.GenDecl)
			return ok && slices.ContainsFunc(g.Specs, func(s ast.Spec) bool {
				t, ok := s.(*ast.TypeSpec)
				return ok && t.Name.Name == name
			})
		})
	})
}

func recursive(msg string) bool { return strings.HasPrefix(msg, "invalid recursive type") }

// Recursive returns all problems if one of the roots, which are type-checked, has a recursive
// type: generators would not terminate.
func Recursive(set *Set, src *overlay.Project) Problems {
	for _, root := range set.Roots {
		if slices.ContainsFunc(reported(root.Package), func(e packages.Error) bool { return recursive(e.Msg) }) {
			return CollectProblems(set, nil, src)
		}
	}
	return nil
}

var (
	position = lazyregexp.New(`(?s)^(.*?)(?::(\d+))?(?::(\d+))?$`) // a file name may contain line breaks
	// echo matches what the generator object says about a type after it reported the field.
	echo        = lazyregexp.New(`^\S+: (?:name requested for )?invalid (?:[a-z]+ )*type: (?:interface|struct)\b`)
	inGenerated = lazyregexp.New(`^\d+:\d+$`) // in code that is not in a file
)

// moduleOfPackage returns the folder of the nested module of a package relative to the root, or "".
func moduleOfPackage(p *packages.Package, src *overlay.Project) string {
	dir := p.Dir
	if dir == "" && len(p.GoFiles) > 0 {
		dir = filepath.Dir(p.GoFiles[0])
	}
	if !isBelow(src.Dir, dir) {
		return ""
	}
	if folder := relative(src.Dir, moduleDir(src.Dir, dir)); folder != "." {
		return folder
	}
	return ""
}

// newProblem converts an error of the loader about a package of a module, or about what it imports. Its position is
// file:line:column, a package ID with ":-", line:column in generated code, "-", or empty. Where the go command names the
// file, it is relative to the folder of the module, in which it ran.
func newProblem(e packages.Error, module string, src *overlay.Project) Problem {
	p := Problem{Message: src.Shorten(strings.TrimSpace(e.Msg)), module: module}
	id, ofPackage := strings.CutSuffix(e.Pos, ":-")
	switch {
	case ofPackage || inGenerated().MatchString(e.Pos):
		p.Message = id + ": " + p.Message
	case e.Pos != "-":
		m := position().FindStringSubmatch(e.Pos) // the expression matches any text
		if p.File = src.Rel(m[1]); m[1] != "" && !filepath.IsAbs(m[1]) {
			p.File = path.Join(module, filepath.ToSlash(m[1]))
		}
		p.Line, _ = strconv.Atoi(m[2])
		p.Column, _ = strconv.Atoi(m[3])
	}
	return p
}
