package command

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"

	"github.com/operon-dev/operon/internal/scaffold"
)

// checkFrame is the JSON form of a check.
type checkFrame struct {
	APIVersion  string         `json:"apiVersion"`
	Kind        string         `json:"kind"`
	Command     string         `json:"command"`
	Differences []difference   `json:"differences"`
	Warnings    []WarningFrame `json:"warnings"`
}

// problemsFrame is the JSON form of errors in the sources, in place of the plan or
// the check that they kept from being made.
type problemsFrame struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Command    string         `json:"command"`
	Problems   []problemFrame `json:"problems"`
	Hint       string         `json:"hint,omitempty"`
}

type problemFrame struct {
	File    string `json:"file"` // empty where there is no place
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// APIVersion is the version of every JSON report.
const APIVersion = "operon.dev/v1"

// planFrame is the JSON form of a plan.
type planFrame struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Command    string         `json:"command"`
	Applied    bool           `json:"applied"`
	Changes    []changeFrame  `json:"changes"`
	Output     string         `json:"output,omitempty"` // what output:stdout asked for
	Warnings   []WarningFrame `json:"warnings"`
}

type changeFrame struct {
	Path  string         `json:"path"`
	From  string         `json:"from,omitempty"` // of a move: where the file stood
	Class scaffold.Class `json:"class"`
	Op    scaffold.Op    `json:"op"`
	Mode  string         `json:"mode"` // octal permission bits, such as 0644
	Diff  string         `json:"diff,omitempty"`
}

type WarningFrame struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Lines   string `json:"lines,omitempty"` // to add to the file by hand
}

func (r PlanReport) frame() planFrame {
	f := planFrame{
		APIVersion: APIVersion, Kind: "Plan", Command: r.command, Applied: r.applied,
		Changes: []changeFrame{}, Warnings: warningFrames(r.plan), Output: string(r.plan.Printed()),
	}
	for _, c := range r.plan.Changes() {
		cf := changeFrame{Path: c.Path, From: c.From, Class: c.Class, Op: c.Op, Mode: fmt.Sprintf("%04o", c.Mode&fs.ModePerm)}
		if r.diff {
			cf.Diff = c.Diff()
		}
		f.Changes = append(f.Changes, cf)
	}
	return f
}

func warningFrames(p *scaffold.Plan) []WarningFrame {
	list := []WarningFrame{}
	for _, w := range p.Warnings() {
		list = append(list, WarningFrame(w))
	}
	return list
}

func PrintJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
