// Package request turns a request and the defaults of a project into a job: which
// generators run with which options, over which paths, and where their output goes.
// Arguments have controller-gen's syntax and meaning.
package request

import (
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/project"
)

// Request says what to generate. The zero value of every field but Dir means
// the project's default.
type Request struct {
	// Dir is the absolute path of the project root, which the plan's paths and
	// the relative paths in arguments start from.
	Dir string
	// Project holds the default arguments: plugins["generate.operon.dev/v1"].args,
	// a list in controller-gen's syntax. Without them they are what the Makefile
	// of kubebuilder v4.15 passes.
	Project *project.Config

	// Args are arguments in controller-gen's syntax (crd:maxDescLen=0,
	// paths=./api/..., output:crd:dir=out). What they name replaces the
	// default, and the rest stays: the generators as a set, the paths as a set,
	// the output rule of each generator; a rule for all generators replaces
	// every default rule.
	Args []string
	// Only restricts the run to these generators, as far as the arguments name
	// them.
	Only []string
	// Paths replaces the paths, as repeated paths= arguments do.
	Paths []string
	// HeaderFile is the licence header of generated Go code. It is not put on
	// YAML, for it holds a Go comment.
	HeaderFile string
	// Year takes the place of " YEAR" in every header file.
	Year string

	// ThisYear is used for " YEAR" in the header file of the default arguments
	// when neither they nor Year set one and no generated file tells which year
	// the project is of. It is the caller's, for gen reads no clock.
	ThisYear string

	// Store keeps what was read for the next run; nil keeps nothing. It changes
	// no byte, no warning and no error.
	Store *store.Store
}
