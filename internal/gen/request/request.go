// Package request turns a request and the defaults of a project into a job: which
// generators run with which options, over which paths, and where their output goes.
// Arguments have controller-gen's syntax and meaning.
package request

import (
	"context"

	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/store"
	"github.com/operon-dev/operon/internal/project"
)

// Request defines what to generate. The zero value of each field except Dir means the
// default of the project.
type Request struct {
	// Dir is the absolute path of the project root. Paths in the plan and relative paths
	// in arguments start there.
	Dir string
	// Project has the default arguments: plugins["generate.operon.dev/v1"].args, a
	// list in controller-gen's syntax. Without them, the defaults are the arguments in
	// the Makefile of kubebuilder v4.15.
	Project *project.Config

	// Args are arguments in controller-gen's syntax (crd:maxDescLen=0, paths=./api/...,
	// output:crd:dir=out). They replace defaults of the same kind: generators replace
	// all default generators, paths replace all default paths, and an output rule
	// replaces the default rule of its generator. An output rule for all generators
	// replaces all default rules.
	Args []string
	// Only limits the run to these generators. Generators that the arguments do not name
	// are ignored.
	Only []string
	// Paths replaces the paths of the arguments.
	Paths []string
	// HeaderFile is the license header of generated Go code. It is not used for YAML
	// files, because it is a Go comment.
	HeaderFile string
	// Year replaces " YEAR" in all header files.
	Year string

	// ThisYear replaces " YEAR" in the header file of the default arguments if neither
	// they nor Year set a year and no generated file has one. The caller sets it,
	// because gen does not read the clock.
	ThisYear string

	// Environ is the environment of the go command: see package environ. Program is the path of operon, which
	// acts as the driver of go/packages: see package driver.
	Environ []string
	Program string

	// Foreign says what happens to content of files that operon did not write.
	Foreign ForeignPolicy
	// Decided are the paths about which this command decides: see [Decisions].
	Decided []string
	// RunMake runs the project's own make to say what it does with such files.
	RunMake bool
	// Allow asks the user whether commands of PROJECT may run. text describes them, and checksum identifies their version.
	Allow func(ctx context.Context, text, checksum string) error

	// Store caches results for later runs. It may be nil. It does not affect outputs,
	// warnings or errors.
	Store *store.Store
}

// ForeignPolicy says what happens to content of generated files that operon did not write, if PROJECT has no decision.
type ForeignPolicy int

// The policies.
const (
	Overwrite ForeignPolicy = iota // it goes, as with controller-gen: for comparisons
	Refuse                         // it is an error
	Add                            // it stays, and the file only gets what the planned sources add
)

// Validate reports an unusable header file of the request.
func (r Request) Validate(src *overlay.Project) error {
	if r.HeaderFile == "" {
		return nil
	}
	return src.CheckReadable("--header-file "+r.HeaderFile, r.HeaderFile)
}
