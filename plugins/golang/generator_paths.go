package golang

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// readBy makes a generator read a new package. A call of controller-gen in the Makefile can name folders, and
// the package is in none of them: then it gets a line with the folder, if it has a line for each.
func readBy(generator, dir string, e plugin.Event, p *scaffold.Plan) error {
	jobs, err := request.Resolve(request.Request{Project: e.Project}, p)
	if err != nil {
		return nil //nolint:nilerr // generating reports wrong arguments
	}
	pattern := "./" + dirOfGroups(dir, *e.Resource) + "/..."
	var from []string
	for _, job := range jobs.Missing(generator, dir) {
		from = append(from, job.From...)
	}
	for _, call := range slices.Backward(from) { // a new line moves those below it
		added, err := addPath(call, pattern, isWired(e), p)
		if err != nil {
			return err
		}
		if !added {
			p.Warn(scaffold.Warning{File: dir, Rule: "not-read", Lines: "paths=" + pattern,
				Message: "the generator " + generator + " does not read this folder; add this argument to the call in " + call})
		}
	}
	return nil
}

// dirOfGroups returns the folder above those of the group and the version.
func dirOfGroups(dir string, r project.Resource) string {
	if path.Base(dir) == r.Version {
		dir = path.Dir(dir)
	}
	if path.Base(dir) == r.Group {
		dir = path.Dir(dir)
	}
	return dir
}

// addPath adds a path to the call at a place, as FILE:LINE. added is false if the call has no place for it.
func addPath(from, pattern string, wired bool, p *scaffold.Plan) (added bool, err error) {
	file, at, found := strings.Cut(from, ":")
	line, err := strconv.Atoi(at)
	if !found || err != nil || !wired || path.Ext(file) == ".go" || !p.Exists(file) {
		return false, nil //nolint:nilerr // the arguments are those of PROJECT, or in a directive
	}
	err = p.Edit(file, func(src []byte) ([]byte, error) {
		next, ok := calls.AddPath(src, line, pattern)
		added = added || ok
		return next, nil
	})
	return added, err
}
