// Package kustomizefile edits the lists in kustomization.yaml files.
package kustomizefile

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/conflict"
	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Item is an item of a list in a kustomization.
type Item struct {
	File string // the kustomization
	Key  string // the list
	Text string // YAML; may span lines
	// Narrow is the item in the templates of operon if it differs from Text, which other projects have: there, an
	// object may have another name. Enable uncomments it, too.
	Narrow string
	Marker string // scaffold comment below the item, or ""
	First  bool   // insert before all others
}

// Enable uncomments the item, or else adds it. It does not change a list that has the item.
func (i Item) Enable(p *scaffold.Plan) error {
	commented, dir := i.line(), path.Dir(i.File)
	return Edit(p, i.File, i.Key, commented, func(src []byte) ([]byte, error) {
		src, err := yamledit.UncommentKey(src, i.Key)
		if err != nil {
			return nil, err
		}
		for _, text := range []string{lineOf(i.Narrow), commented} {
			if out, err := yamledit.Uncomment(src, text, dir); err == nil {
				return out, nil
			}
		}
		return i.append(src)
	})
}

// Add adds the item, unless the list has it.
func (i Item) Add(p *scaffold.Plan) error {
	return Edit(p, i.File, i.Key, i.line(), i.append)
}

// Disable makes the item, a path on one line, a comment that Enable finds.
func (i Item) Disable(p *scaffold.Plan) error {
	return p.Edit(i.File, func(src []byte) ([]byte, error) {
		out, err := yamledit.Comment(src, i.line(), path.Dir(i.File))
		return out, fault.In(i.File, err)
	})
}

// Remove removes the item, a path, from the list, and a list without items.
func (i Item) Remove(p *scaffold.Plan) error {
	return p.Edit(i.File, func(src []byte) ([]byte, error) {
		doc, err := yamledit.Decode(src)
		if err != nil {
			return nil, fault.In(i.File, err)
		}
		have, _ := doc.Value[i.Key].([]any)
		rest := slices.DeleteFunc(slices.Clone(have), func(v any) bool {
			s, ok := v.(string)
			return ok && path.Join(path.Dir(i.File), s) == path.Join(path.Dir(i.File), i.Text)
		})
		if len(rest) == len(have) {
			return src, nil
		}
		want := map[string]any{}
		if len(rest) > 0 {
			want[i.Key] = rest
		}
		return yamledit.Reconcile(src, map[string]any{i.Key: have}, want, nil)
	})
}

func (i Item) append(src []byte) ([]byte, error) {
	return yamledit.Append(src, i.Text, yamledit.ListAnchor{Path: []string{i.Key}, Marker: i.Marker, Dir: path.Dir(i.File), First: i.First})
}

// line returns the item as written in the list.
func (i Item) line() string { return lineOf(i.Text) }

func lineOf(text string) string { return "- " + strings.ReplaceAll(text, "\n", "\n  ") }

// ManagerPatch returns an item of patches that applies to the Deployment of the manager. If that has another name than
// the scaffolded one, the item applies to all Deployments.
func ManagerPatch(p *scaffold.Plan, file, patch string) Item {
	const name = "controller-manager"
	wide := "path: " + patch + "\ntarget:\n  kind: Deployment"
	item := Item{File: file, Key: "patches", Text: wide, Narrow: wide + "\n  name: " + name}
	if src, err := p.Read("config/manager/manager.yaml"); err == nil && bytes.Contains(src, []byte("\n  name: "+name+"\n")) {
		item.Text = item.Narrow
	}
	return item
}

// NamedPatch returns an item of patches that applies to one object. If no other object has the kind, a comment
// that names only the kind may become the item.
func NamedPatch(file, patch, kind, name string, alone bool) Item {
	wide := "path: " + patch + "\ntarget:\n  kind: " + kind
	item := Item{File: file, Key: "patches", Text: wide + "\n  name: " + name}
	if alone {
		item.Narrow = wide
	}
	return item
}

// Edit edits the list at key of the kustomization file. If that fails, the hint contains the
// line that belongs in the list.
func Edit(p *scaffold.Plan, file, key, line string, edit func([]byte) ([]byte, error)) error {
	err := p.Edit(file, edit)
	if errors.Is(err, fs.ErrNotExist) && !p.HasBase(file) {
		return Missing(p, file, key, line)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if fault.HintOf(err) == conflict.Hint {
		return &fault.Error{Code: fault.Code(err), Msg: file + ":" + err.Error(), Hint: conflict.Hint}
	}
	return &fault.Error{
		Code: fault.Code(err),
		Msg:  "edit " + file,
		Hint: "add this by hand below " + key + " in " + file + ", then repeat the command:\n" + line,
		Err:  err,
	}
}

// Missing returns the error for a missing kustomization in which line belongs.
func Missing(p *scaffold.Plan, file, key, line string) error {
	first, _, _ := strings.Cut(line, "\n")
	again := "from version control"
	if p.HasBase("Makefile") { // operon initialized the project
		again += " or with operon init"
	}
	return fault.Failed("restore it "+again+", or write a "+path.Base(file)+" with:\n"+key+":\n"+line,
		"%s is missing, but must contain %q", file, first)
}
