package plugin

// Explanation says what a Generate event runs, and how.
type Explanation struct {
	Calls           []ExplainedCall `json:"items"`
	Ignored         []IgnoredCall   `json:"ignored"` // calls of the project that do not matter
	Unclear         []IgnoredCall   `json:"unclear"` // calls of the project that are not understood
	Foreign         []ForeignFile   `json:"foreign"` // generated files with changes of others, about which PROJECT says nothing
	ControllerTools ToolsVersion    `json:"controllerTools"`
}

// ExplainedCall is one run of generators.
type ExplainedCall struct {
	From    []string `json:"from"` // lines of files, or PROJECT, defaults or arguments
	Args    []string `json:"args"`
	Outputs []string `json:"outputs"` // folders
	Files   int      `json:"files"`   // that it generates

	// Way is how packages were loaded: record, folders, listing or loader, the fastest first; or the
	// program that ran instead. Declined has the faster ways that could not.
	Way      string        `json:"way,omitempty"`
	Declined []DeclinedWay `json:"declined"`
	// Unrecorded says why the next run cannot use the way record, or is empty.
	Unrecorded string `json:"unrecorded,omitempty"`
}

// DeclinedWay is a way to load packages that could not give an exact result.
type DeclinedWay struct {
	Way    string `json:"way"`
	Reason string `json:"reason"`
}

// IgnoredCall is a call that does not run.
type IgnoredCall struct {
	From   string `json:"from"`
	Reason string `json:"reason"`
}

// ForeignFile is a generated file with content that operon did not write.
type ForeignFile struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`    // the first line that differs
	Differs string `json:"differs"` // how, for people
}

// ToolsVersion has versions of controller-tools.
type ToolsVersion struct {
	Runs   string `json:"runs"`             // the version that generates
	Choice string `json:"choice,omitempty"` // the value in PROJECT
	Pinned string `json:"pinned,omitempty"` // the version that the project installs
	From   string `json:"from,omitempty"`   // the line with the pinned version
}
