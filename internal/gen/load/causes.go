package load

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/edit/conflict"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/goenv"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"golang.org/x/mod/modfile"
)

// cause is a defect of the module that can make every import an error. One error describes it.
type cause struct {
	signs []string // parts of messages of the go command
	hint  string
	// describe returns the error that replaces all others, given the first message with a sign
	// and the number of such messages. ok is false if it is no reason to drop the others; then
	// the next one with a sign follows.
	describe func(first Problem, count int, src *overlay.Project) (instead Problem, ok bool)
	// described means that the hint is wrong without that error.
	described bool
}

// causes lists the most specific causes first.
var causes = []cause{
	{
		signs: []string{"failed to initialize build cache", "could not create module cache"},
		hint:  "make that folder writable, or set GOCACHE and GOMODCACHE to other folders",
	},
	{
		signs: []string{"module lookup disabled by GOPROXY=off", "not in the module cache"}, hint: "go mod download",
		describe: func(first Problem, count int, _ *overlay.Project) (Problem, bool) {
			what := "the module of this import"
			if m := moduleVersion().FindString(first.Message); first.File == "" && m != "" { // the go command did not get to the imports
				first.File, what = path.Join(first.module, "go.mod"), "module "+m
			}
			first.Message = what + " is not in the module cache" + more(", nor are those of", count)
			return first, true
		},
	},
	{
		signs: []string{"replacement directory ", "(replaced by "}, hint: "correct the replace directive in go.mod, or restore the folder",
		describe: replaced,
	},
	{signs: []string{"malformed import path"}, hint: "rename the folder: use letters, digits, hyphens, dots and underscores"},
	{signs: []string{"unexpected NUL in input"}, hint: "restore that file from version control: it is no text"},
	{
		signs: []string{": not a directory"}, hint: "move that file away, or restore the folder from version control",
		describe: notFolder,
	},
	{
		signs: []string{"modules listed in go.work", "no required module provides package", "does not contain"},
		hint:  "run `go work use .` in the folder of the module, or set GOWORK=off",
		describe: func(_ Problem, _ int, src *overlay.Project) (Problem, bool) {
			text, err := input.ReadFile(src.Workspace, input.Text)
			return Problem{File: relative(src.Dir, src.Workspace), Message: "it does not use the module of this project"},
				err == nil && goenv.LeavesOut(src.Workspace, text, src.Dir)
		}, described: true,
	},
	{signs: []string{"modules listed in go.work"}, hint: "run `go work use .` in the folder of the module, or set GOWORK=off"},
	{
		signs: []string{"no required module provides package", "does not contain package"}, hint: "delete it, or require that module in go.mod",
		describe: nested, described: true,
	},
	{
		signs:    []string{"no required module provides package", "does not contain package"},
		hint:     "restore the folder from version control or with operon init --restore FOLDER, or delete the import",
		describe: missingFolder, described: true,
	},
	{
		signs: []string{"missing go.sum entry"}, hint: "go mod tidy",
		describe: func(first Problem, count int, src *overlay.Project) (Problem, bool) {
			sums := path.Join(first.module, "go.sum")
			if _, err := src.Open(sums); err != nil {
				return Problem{File: sums, Message: "the file is missing, so no module can be verified"}, true
			}
			first.Message = "go.sum has no entry for the module of this import" + more(", nor for those of", count)
			return first, true
		},
	},
	{
		signs: []string{"no required module provides package", "updates to go.mod needed", "import lookup disabled by -mod=readonly"},
		hint:  "go mod tidy",
		describe: func(first Problem, count int, _ *overlay.Project) (Problem, bool) {
			first.Message = "no module that go.mod requires has the package of this import" + more(", nor those of", count)
			return first, count > 1
		},
	},
	{
		signs: []string{"import lookup disabled by -mod=vendor"}, hint: "go mod vendor",
		describe: func(first Problem, count int, _ *overlay.Project) (Problem, bool) {
			first.Message = "the package of this import is not in the folder vendor" + more(", nor are those of", count)
			return first, true
		},
	},
	{
		signs: []string{"does not contain main module", "go.mod file not found"}, hint: "restore go.mod from version control",
		describe: func(first Problem, _ int, src *overlay.Project) (Problem, bool) {
			_, err := src.Open("go.mod")
			return Problem{Message: "go.mod is missing"}, errors.Is(err, fs.ErrNotExist)
		},
	},
	{signs: []string{"case-insensitive import collision"}, hint: "rename one of the folders, whose names differ only in capitals"},
	{
		signs: []string{"interface type is not supported"},
		hint:  "use apiextensionsv1.JSON for any value, runtime.RawExtension for an object, or a type of your own",
	},
	{
		signs: []string{"inline struct types are not supported", "not a supported map value type: *ast.StructType"},
		hint:  "declare the struct as a type with a name",
	},
	{
		signs: []string{"extra arguments provided", "expected equals, got"},
		hint:  "write a value with commas, semicolons or spaces in double quotes or backquotes; markers have no single quotes",
	},
	{
		signs: []string{"unsupported AST kind *ast.ChanType", "unsupported AST kind *ast.FuncType", `unsupported type "complex`, noSchema},
		hint:  "use a type that JSON can hold, such as string",
	},
	{signs: []string{"parsing $GOFLAGS"}, hint: "correct GOFLAGS; if go env -w set it, run go env -u GOFLAGS"},
	{signs: []string{"GOTOOLCHAIN=local"}, hint: "install the Go version that go.mod requires; operon does not download toolchains"},
	{signs: []string{"GOCACHE is not defined", "build cache is required"}, hint: "set HOME, or GOPATH and GOCACHE"},
	{signs: []string{`apiVersion "apiextensions.k8s.io/`}, hint: controllertools.HintV1beta1},
	{signs: []string{"schemapatch would remove all YAML documents but the first"}, hint: "move the other documents to files of their own"},
}

func more(what string, count int) string {
	switch count {
	case 1:
		return ""
	case 2:
		return what + " 1 more import"
	}
	return what + " " + strconv.Itoa(count-1) + " more imports"
}

var (
	moduleVersion = lazyregexp.New(`[^\s:@]+@v[^\s:]+`)
	replacement   = lazyregexp.New(`(\S+): replacement directory (\S+) does not exist|(\S+) \(replaced by (\S+)\): .*no such file`)
	folderName    = lazyregexp.New(`(?:open|stat) (\S+): not a directory`)
	packagePath   = lazyregexp.New(`(?:provides|does not contain) package ([^\s;]+)`)
)

// relative returns a path relative to a folder, also above it, with slashes.
func relative(dir, name string) string {
	if rel, err := filepath.Rel(dir, name); err == nil {
		name = rel
	}
	return filepath.ToSlash(name)
}

// replaced describes a replace directive in go.mod for a missing folder.
func replaced(first Problem, _ int, _ *overlay.Project) (Problem, bool) {
	m := replacement().FindStringSubmatch(first.Message)
	if m == nil {
		return first, false
	}
	message := "it replaces " + m[1] + m[3] + " with " + m[2] + m[4] + ", which does not exist"
	return Problem{File: path.Join(first.module, "go.mod"), Message: message}, true
}

// notFolder describes a file in the place of a folder with packages.
func notFolder(first Problem, _ int, src *overlay.Project) (Problem, bool) {
	m := folderName().FindStringSubmatch(first.Message)
	if m == nil {
		return first, false
	}
	at := ""
	for name := range strings.SplitSeq(m[1], "/") {
		if at = path.Join(at, name); !src.HasDir(overlay.Join(src.Dir, at)) {
			return Problem{File: at, Message: "it is a file, so it cannot contain " + m[1]}, true
		}
	}
	return first, false
}

// nested describes a go.mod in a folder of the project, which makes the folder another module.
func nested(first Problem, _ int, src *overlay.Project) (Problem, bool) {
	content, err := src.Open("go.mod")
	m := packagePath().FindStringSubmatch(first.Message)
	if err != nil || m == nil {
		return first, false
	}
	folder, inside := strings.CutPrefix(m[1], modfile.ModulePath(content)+"/")
	for ; inside && folder != "."; folder = path.Dir(folder) {
		if _, err := src.Open(path.Join(folder, "go.mod")); err == nil {
			return Problem{File: path.Join(folder, "go.mod"),
				Message: "it makes " + folder + " another module, so the project lacks package " + m[1]}, true
		}
	}
	return first, false
}

// missingFolder describes an import of a folder that the project does not have.
func missingFolder(first Problem, count int, src *overlay.Project) (Problem, bool) {
	content, err := src.Open("go.mod")
	m := packagePath().FindStringSubmatch(first.Message)
	if err != nil || m == nil || first.File == "" { // an argument names the package
		return first, false
	}
	folder, inside := strings.CutPrefix(m[1], modfile.ModulePath(content)+"/")
	if !inside || src.HasDir(overlay.Join(src.Dir, folder)) {
		return first, false
	}
	first.Message = "the folder " + folder + " of this import does not exist" + more(", nor do those of", count)
	return first, true
}

// Fault returns the error for the problems. If they have one cause, it replaces them all.
func (p Problems) Fault(src *overlay.Project) error {
	for _, q := range p {
		if line := conflictLine(q, src); line > 0 {
			at := Problem{File: q.File, Line: line, Column: 1, Message: conflict.Message}
			return &fault.Error{Code: fault.CodeFailed, Hint: conflict.Hint, Err: Problems{at}}
		}
	}
	hint := ""
	for _, c := range causes {
		var signed Problems
		for _, q := range p {
			if slices.ContainsFunc(c.signs, func(sign string) bool { return strings.Contains(q.Message, sign) }) {
				signed = append(signed, q)
			}
		}
		if len(signed) == 0 {
			continue
		}
		if c.describe != nil {
			for _, q := range signed {
				if instead, ok := c.describe(q, len(signed), src); ok {
					return &fault.Error{Code: fault.CodeFailed, Hint: q.hint(c), Err: Problems{instead}}
				}
			}
		}
		if hint == "" && !c.described {
			hint = signed[0].hint(c)
		}
	}
	return &fault.Error{Code: fault.CodeFailed, Hint: hint, Err: p}
}

// hint returns the hint of a cause. Commands of Go run in the folder of the module.
func (p Problem) hint(c cause) string {
	if p.module != "" && strings.HasPrefix(c.hint, "go mod ") {
		return "cd " + p.module + " && " + c.hint
	}
	return c.hint
}

// conflictLine returns the line of the first conflict that a merge left in the Go file of q, or
// 0 if q has another reason.
func conflictLine(q Problem, src *overlay.Project) int {
	if path.Ext(q.File) != ".go" {
		return 0
	}
	content, err := src.Open(q.File)
	if err != nil {
		return 0
	}
	line := conflict.Line(content)
	if line == 0 {
		return 0
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", content, parser.SkipObjectResolution); err == nil {
		return 0 // the text is in a string or in a comment
	}
	return line
}
