package load

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/gen/overlay"
	"golang.org/x/tools/go/packages"
)

// Problem is an error at a place in the sources.
type Problem struct {
	File         string // relative to the root where it lies below it; "" when there is no place
	Line, Column int    // from 1; 0 when unknown
	Message      string
}

// String is file:line:column: message, less what is unknown.
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

// Problems are all errors of a run, in the order of their places, each once;
// those without a place come last.
type Problems []Problem

// Error implements error, with one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, q := range p {
		lines[i] = q.String()
	}
	return strings.Join(lines, "\n")
}

// CollectProblems gathers the errors of the package graph, and those that generators
// returned. As controller-gen does, it passes over type errors: packages that
// no generated type refers to are not loaded, so references to them never
// resolve; what matters is found again when a type is generated.
//
// Where it is known what is wrong with the sources, errors in the code that was
// made of them follow from that.
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
			case inGenerated.MatchString(e.Pos):
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
	position    = regexp.MustCompile(`^(.*?)(?::(\d+))?(?::(\d+))?$`)
	inGenerated = regexp.MustCompile(`^\d+:\d+$`) // no file has the code
)

// newProblem reads the loader's position, which is file:line:column, a package
// ID with ":-", line:column in generated code, "-", or empty.
func newProblem(e packages.Error, src *overlay.Project) Problem {
	p := Problem{Message: src.Shorten(strings.TrimSpace(e.Msg))}
	id, ofPackage := strings.CutSuffix(e.Pos, ":-")
	switch {
	case ofPackage || inGenerated.MatchString(e.Pos):
		p.Message = id + ": " + p.Message
	case e.Pos != "-":
		m := position.FindStringSubmatch(e.Pos) // it always matches
		p.File = src.Rel(m[1])
		p.Line, _ = strconv.Atoi(m[2])
		p.Column, _ = strconv.Atoi(m[3])
	}
	return p
}

const download = "go mod download"

// Essential is p without what follows from modules that are not there: nothing
// of theirs is known then, and every mention of it is a problem of its own.
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

// hintFor names the remedy of an error that the go command reports.
func hintFor(msg string) string {
	switch {
	case strings.Contains(msg, "module lookup disabled by GOPROXY=off"), strings.Contains(msg, "not in the module cache"):
		return download
	case strings.Contains(msg, "missing go.sum entry"), strings.Contains(msg, "no required module provides package"),
		strings.Contains(msg, "updates to go.mod needed"), strings.Contains(msg, "import lookup disabled by -mod=readonly"):
		return "go mod tidy"
	case strings.Contains(msg, "does not contain main module"), strings.Contains(msg, "go.mod file not found"):
		return "there is no go.mod here: restore it from version control"
	case strings.Contains(msg, "GOTOOLCHAIN=local"):
		return "install the Go version that go.mod asks for; operon starts no other toolchain"
	}
	return ""
}

// Hint is the first hint that any of the problems has.
func (p Problems) Hint() string {
	for _, q := range p {
		if h := hintFor(q.Message); h != "" {
			return h
		}
	}
	return ""
}
