// Package watches reads, validates and edits watches.yaml, which tells helm-operator which chart
// it installs for the objects of a kind.
//
// operator-sdk's reader ignores unknown keys, reports no positions, and stops the operator at the
// first error.
package watches

import (
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// File is the path of the file in a project.
const File = "watches.yaml"

// imageHome is the folder of a project in the image of helm-operator. Old projects have paths below it.
const imageHome = "/opt/helm/"

// Watch is an entry of watches.yaml.
type Watch struct {
	Group, Version, Kind string
	Chart                string // the folder of the chart, relative to the project

	WatchDependentResources *bool                 // nil: true
	OverrideValues          map[string]string     // values that no object can change; templates over environment variables
	Selector                *metav1.LabelSelector // of objects; nil: all
	ReconcilePeriod         string                // a Go duration; "": the operator's
	MaxConcurrentReconciles int                   // 0: the operator's
	DryRunOption            string                // none, client or server; "": none

	Line int // of the entry in the file, from 1
}

// GVK returns group/version, Kind=kind.
func (w Watch) GVK() string {
	return strings.TrimPrefix(w.Group+"/"+w.Version, "/") + ", Kind=" + w.Kind
}

// SameKind reports whether two entries have the same group, version and kind.
func (w Watch) SameKind(o Watch) bool {
	return w.Group == o.Group && w.Version == o.Version && w.Kind == o.Kind
}

// Read decodes watches.yaml, and returns the first error that Validate finds.
func Read(src []byte, isChart func(folder string) bool) ([]Watch, error) {
	list, findings, err := Validate(src, isChart)
	if err != nil {
		return nil, err
	}
	if i := finding.FirstError(findings); i >= 0 {
		f := findings[i]
		return nil, fault.Usage(f.Fix, "%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	}
	return list, nil
}

// Validate decodes watches.yaml. isChart reports whether a folder of the project has a chart. The
// error says that the file is not a list of mappings; other problems are findings, and invalid
// entries are returned as far as they are readable.
func Validate(src []byte, isChart func(folder string) bool) ([]Watch, []finding.Finding, error) {
	items, err := entries(src)
	if err != nil {
		return nil, nil, err
	}
	var list []Watch
	v := validator{isChart: isChart}
	for _, item := range items {
		w := v.watch(item)
		if i := slices.IndexFunc(list, w.SameKind); i >= 0 && w.Kind != "" {
			v.report(item, ruleDuplicate, "keep one of them", "%s is also in line %d", w.GVK(), list[i].Line)
		}
		list = append(list, w)
	}
	return list, v.findings, nil
}

// entries returns the nodes of the entries, which are mappings.
func entries(src []byte) ([]*yaml.Node, error) {
	root, err := decode(src)
	if err != nil || root == nil {
		return nil, err
	}
	if root.Kind != yaml.SequenceNode {
		return nil, errorAt(root, "write entries that start with: - group: ...", "the file is not a list of watches")
	}
	for _, item := range root.Content {
		if item.Kind != yaml.MappingNode {
			return nil, errorAt(item, "write the keys group, version, kind and chart", "the watch is not a mapping")
		}
	}
	return root.Content, nil
}

// decode returns the root of the only document, or nil if the file has none.
func decode(src []byte) (*yaml.Node, error) {
	if err := yamledit.CheckSyntax(File, src); err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(src))
	var first, second yaml.Node
	if err := d.Decode(&first); errors.Is(err, io.EOF) {
		return nil, nil //nolint:nilnil // an empty file
	} else if err != nil {
		return nil, fault.In(File, yamledit.SyntaxError(src, err))
	}
	if err := d.Decode(&second); err == nil {
		return nil, errorAt(&second, "keep one document", "the file has several documents, and helm-operator reads the first")
	}
	root := first.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil //nolint:nilnil // only comments
	}
	return root, nil
}

// errorAt returns an error for a node of watches.yaml.
func errorAt(n *yaml.Node, hint, format string, args ...any) error {
	return fault.In(File+":"+strconv.Itoa(max(n.Line, 1))+":"+strconv.Itoa(max(n.Column, 1)), fault.Usage(hint, format, args...))
}

// chartFolder returns the folder of a chart relative to the project. ok is false if it lies outside.
func chartFolder(s string) (folder string, ok bool) {
	folder = path.Clean(strings.TrimPrefix(s, imageHome))
	return folder, !path.IsAbs(folder) && folder != ".." && !strings.HasPrefix(folder, "../")
}
