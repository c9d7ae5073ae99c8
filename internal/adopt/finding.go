package adopt

import "github.com/operon-dev/operon/internal/fault"

// Confidence says how sure adopt is of a finding.
type Confidence string

// The degrees of confidence.
const (
	Certain Confidence = "certain" // from a declaration
	Likely  Confidence = "likely"  // from a convention with which something in the repository agrees
	Unknown Confidence = "unknown" // adopt does not understand it, and PROJECT does not record it
)

// Finding is something that adopt found, and where.
type Finding struct {
	What       string     `json:"what"`  // module, main, kind, controller, ...
	Value      string     `json:"value"` // what PROJECT records, for people
	File       string     `json:"file"`  // evidence; empty if the user or several files provide it
	Line       int        `json:"line"`  // 0: the file as a whole
	Confidence Confidence `json:"confidence"`
	Note       string     `json:"note,omitempty"` // what is special about it
}

// Place returns file:line, or as much of it as is known.
func (f Finding) Place() string { return place{f.File, f.Line}.String() }

// Question is an error that a value of the user resolves.
type Question struct {
	Flag       string   // of operon adopt, without --
	Text       string   // what is not known
	Candidates []string // possible values, best first; empty: any
}

func (q Question) Error() string { return q.Text }

// ask returns a question as the error of a command that cannot ask.
func ask(q Question, hint string) error {
	return &fault.Error{Code: fault.CodeUsage, Err: q, Hint: hint}
}
