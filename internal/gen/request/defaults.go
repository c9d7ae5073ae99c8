package request

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// ConfigKey is the key of generator settings in PROJECT's plugins; see [settings].
const ConfigKey = "generate.operon.dev/v1"

// Files of a project.
const (
	// HeaderFile is the default header file of generated Go code.
	HeaderFile = "hack/boilerplate.go.txt"
	// DeepcopyFile is the file of generated code in each API package.
	DeepcopyFile = "zz_generated.deepcopy.go"
)

// projectCalls returns the calls of the project: those in PROJECT, or those in its own files, or
// the default one.
func projectCalls(r Request, p *scaffold.Plan) (*found, error) {
	if r.Project != nil {
		list, err := configured(r.Project.Plugins)
		if err != nil || len(list) > 0 {
			return &found{calls: list, pin: func() calls.Pin { return calls.FindPin(p) }}, err
		}
	}
	defaults, err := defaultCall(r, p)
	if err != nil {
		return nil, err
	}
	f := findCalls(r, p, defaults)
	if len(f.calls) == 0 {
		f.calls = []*call{defaults}
	}
	return f, nil
}

// defaultCall returns the arguments in the Makefile of kubebuilder v4.15, and for apply
// configurations in the Makefile of v4.16.
//
// That Makefile takes the year of the header from the clock. operon keeps the year of
// the project's generated code, and uses Request.ThisYear only for the first generated file.
// The outputs therefore do not change at the end of the year.
func defaultCall(r Request, p *scaffold.Plan) (*call, error) {
	object := "object"
	header, err := p.Read(HeaderFile)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the header is optional
	case err != nil:
		return nil, err
	default:
		object += ":headerFile=" + strconv.Quote(HeaderFile)
		if year := yearOf(r.Project, p, string(header), r.ThisYear); year != "" {
			object += ",year=" + year
		}
	}
	args := []string{"rbac:roleName=manager-role", "crd", "webhook"}
	if r.Project.HasApplyConfigurations() {
		apply := ApplyConfigurations
		if header != nil {
			apply += ":headerFile=" + strconv.Quote(HeaderFile)
		}
		args = append(args, apply)
	}
	a, err := parse(append(args, object, "paths=./...", "output:crd:artifacts:config=config/crd/bases"))
	if err == nil {
		err = a.resolve()
	}
	return newCall(a, fromDefaults), err
}

// yearOf returns the year that replaces " YEAR" in header: the year in the first API package
// whose generated code starts with this header, or thisYear. It is empty if the header
// has no placeholder.
func yearOf(cfg *project.Config, p *scaffold.Plan, header, thisYear string) string {
	if !strings.Contains(header, " YEAR") {
		return ""
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(header)), " YEAR", " ([0-9]{4})")
	re, err := regexp.Compile(pattern)
	if err != nil || cfg == nil {
		return thisYear
	}
	for _, r := range cfg.Resources {
		src, err := p.Read(path.Join(cfg.APIDir(r), DeepcopyFile))
		if err != nil {
			continue
		}
		if m := re.FindSubmatch(src); m != nil {
			return string(m[1])
		}
	}
	return thisYear
}
