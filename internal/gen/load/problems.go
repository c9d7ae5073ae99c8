package load

import (
	"cmp"
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
}

// String returns file:line:column: message, without unknown parts.
func (p Problem) String() string {
	place := p.File
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

// Error implements error, with a line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, q := range p {
		lines[i] = q.String()
	}
	return strings.Join(lines, "\n")
}

// CollectProblems returns the errors of all packages, and those that generators returned.
// Like controller-gen, it ignores type errors. Packages that no generated type needs are
// not loaded, so references to them do not resolve. The generators report the type errors
// that matter.
//
// Errors in generated code are omitted if there are other errors, which cause them.
func CollectProblems(set *Set, returned []error, src *overlay.Project) Problems {
	var all, made Problems
	for _, err := range returned {
		all = append(all, Problem{Message: src.Shorten(err.Error())})
	}
	raw := make([]*packages.Package, len(set.Roots))
	for i, p := range set.Roots {
		raw[i] = p.Package
	}
	packages.Visit(raw, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			switch p := newProblem(e, src); {
			case e.Kind == packages.TypeError:
			case inGenerated().MatchString(e.Pos):
				made = append(made, p)
			default:
				all = append(all, p)
			}
		}
	})
	if len(all) == 0 {
		all = made
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

var (
	position    = lazyregexp.New(`(?s)^(.*?)(?::(\d+))?(?::(\d+))?$`) // a file name may contain line breaks
	inGenerated = lazyregexp.New(`^\d+:\d+$`)                         // in code that is not in a file
)

// newProblem converts an error of the loader. Its position is file:line:column, a
// package ID with ":-", line:column in generated code, "-", or empty.
func newProblem(e packages.Error, src *overlay.Project) Problem {
	p := Problem{Message: src.Shorten(strings.TrimSpace(e.Msg))}
	id, ofPackage := strings.CutSuffix(e.Pos, ":-")
	switch {
	case ofPackage || inGenerated().MatchString(e.Pos):
		p.Message = id + ": " + p.Message
	case e.Pos != "-":
		m := position().FindStringSubmatch(e.Pos) // the expression matches any text
		p.File = src.Rel(m[1])
		p.Line, _ = strconv.Atoi(m[2])
		p.Column, _ = strconv.Atoi(m[3])
	}
	return p
}

const download = "go mod download"

// Essential returns p without the errors that missing modules cause. Without a module,
// each use of its packages is an error.
func (p Problems) Essential() Problems {
	missing := slices.DeleteFunc(slices.Clone(p), func(q Problem) bool { return hintFor(q.Message) != download })
	if len(missing) == 0 {
		return p
	}
	first := missing[0]
	first.Message = "the module of this import is not in the module cache"
	if more := len(missing) - 1; more > 0 {
		first.Message += ", nor are those of " + strconv.Itoa(more) + " more imports"
	}
	return Problems{first}
}

// hintFor returns the hint for an error of the go command, or "".
func hintFor(msg string) string {
	switch {
	case strings.Contains(msg, "module lookup disabled by GOPROXY=off"), strings.Contains(msg, "not in the module cache"):
		return download
	case strings.Contains(msg, "missing go.sum entry"), strings.Contains(msg, "no required module provides package"),
		strings.Contains(msg, "updates to go.mod needed"), strings.Contains(msg, "import lookup disabled by -mod=readonly"):
		return "go mod tidy"
	case strings.Contains(msg, "does not contain main module"), strings.Contains(msg, "go.mod file not found"):
		return "restore go.mod from version control"
	case strings.Contains(msg, "GOTOOLCHAIN=local"):
		return "install the Go version that go.mod requires; operon does not download toolchains"
	}
	return ""
}

// Hint returns the first hint for any of the problems, or "".
func (p Problems) Hint() string {
	for _, q := range p {
		if h := hintFor(q.Message); h != "" {
			return h
		}
	}
	return ""
}
