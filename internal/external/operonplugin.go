package external

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/merge"
)

// request is what a plugin for operon reads: one line of JSON for each event.
type request struct {
	Event plugin.Event      `json:"event"`
	Files map[string]string `json:"files"` // those that the manifest reads, as they are before the event
}

// answer is the line that it prints for a request.
type answer struct {
	Files    []file    `json:"files"`
	Config   any       `json:"config"` // what PROJECT records for the plugin; nil: no change
	Warnings []warning `json:"warnings"`
	Error    string    `json:"error"`
	Hint     string    `json:"hint"`
}

type file struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	// Class is seeded (the default), shared, generated, or edited: a change of a file that the plugin read.
	Class string `json:"class"`
}

const edited = "edited"

type warning struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Own is a plugin that speaks operon's protocol. One process serves a command.
type Own struct {
	Program
	manifest manifest
	session  *session
}

var _ plugin.Plugin = &Own{}

// NewOwn reads the manifest of a plugin.
func NewOwn(p Program) (*Own, error) {
	m, err := readManifest(p.Path)
	return &Own{Program: p, manifest: m}, err
}

// Name implements plugin.Plugin.
func (o *Own) Name() string { return o.Key() }

// Doc implements plugin.Plugin.
func (o *Own) Doc() string { return o.manifest.Description }

// Options implements plugin.Plugin.
func (o *Own) Options() []plugin.Option { return o.manifest.options() }

// Plan implements plugin.Plugin.
func (o *Own) Plan(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	if !slices.Contains(o.manifest.Events, e.Type) {
		return nil
	}
	if e.Type == plugin.Generate {
		p.DependsOn(func() ([]string, bool) { return nil, false }) // nobody knows what the program reads
	}
	e.Options = o.ownOptions(e.Options)
	sent, err := o.read(p)
	if err != nil {
		return err
	}
	line, err := json.Marshal(request{e, sent})
	if err != nil {
		return err
	}
	if o.session == nil {
		if o.session, err = o.start(ctx); err != nil {
			return err
		}
	}
	text, err := o.session.ask(ctx, append(line, '\n'))
	if err != nil {
		return err
	}
	a, err := o.decode(text)
	if err != nil {
		return err
	}
	for _, w := range a.Warnings {
		p.Warn(scaffold.Warning{File: w.File, Line: w.Line, Rule: o.Key(), Message: oneLine(w.Message)})
	}
	if a.Config != nil {
		e.Project.EncodePluginConfig(o.Key(), a.Config)
	}
	return o.plan(a.Files, sent, p)
}

// End ends the process of the command, which must have nothing more to say.
func (o *Own) End() error {
	s := o.session
	o.session = nil
	if s == nil {
		return nil
	}
	return s.end()
}

// ownOptions returns the flags that the manifest declares.
func (o *Own) ownOptions(all map[string]any) map[string]any {
	own := map[string]any{}
	for _, f := range o.manifest.Flags {
		if v, given := all[f.Name]; given {
			own[f.Name] = v
		}
	}
	return own
}

// read returns the files that the manifest reads.
func (o *Own) read(p *scaffold.Plan) (map[string]string, error) {
	files := map[string]string{}
	var all []string
	for _, pattern := range o.manifest.Reads {
		names := []string{pattern}
		if strings.ContainsAny(pattern, `*?[\`) {
			if all == nil {
				var err error
				if all, err = p.Below("."); err != nil {
					return nil, err
				}
			}
			names = slices.DeleteFunc(slices.Clone(all), func(name string) bool {
				matched, _ := path.Match(pattern, name)
				return !matched
			})
		}
		for _, name := range names {
			content, err := p.Editable(name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return nil, err
			case scaffold.IsText(content):
				files[name] = string(content)
			}
		}
	}
	return files, nil
}

// decode decodes the answer, and returns the error that it reports.
func (o *Own) decode(text []byte) (answer, error) {
	var a answer
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return a, invalid(o.Key(), err)
	}
	if a.Error != "" {
		return a, fault.Failed(oneLine(a.Hint), "the plugin %s: %s", o.Key(), oneLine(a.Error))
	}
	return a, nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// plan plans the files of an answer.
func (o *Own) plan(files []file, sent map[string]string, p *scaffold.Plan) error {
	if len(files) > maxFiles {
		return fault.Failed("", "the plugin %s writes more than %d files", o.Key(), maxFiles)
	}
	for _, f := range files {
		if f.Path == project.File {
			return fault.Failed("it records its data with the key config of its answer", "the plugin %s must not write PROJECT", o.Key())
		}
		if err := check(o.Key(), f.Path, []byte(f.Content), p); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := o.planFile(f, sent, p); err != nil {
			return fault.In("the plugin "+o.Key(), err)
		}
	}
	return nil
}

func (o *Own) planFile(f file, sent map[string]string, p *scaffold.Plan) error {
	content := []byte(f.Content)
	switch f.Class {
	case "", string(scaffold.Seeded):
		return p.Seed(f.Path, mode(content), content)
	case string(scaffold.Shared):
		return p.Share(f.Path, mode(content), content)
	case string(scaffold.Generated):
		return p.Generate(o.Key(), f.Path, content)
	case edited:
		before, read := sent[f.Path]
		if !read {
			return fault.Failed("list it below reads in "+manifestFile, "%s is edited, but the plugin did not read it", f.Path)
		}
		return p.Edit(f.Path, func(src []byte) ([]byte, error) {
			merged, clean := merge.Text([]byte(before), src, content)
			if !clean {
				return nil, fault.Failed("", "%s: the change does not fit", f.Path)
			}
			return merged, nil
		})
	}
	return fault.Failed("valid classes: seeded, shared, generated, edited", "%s has the class %q", f.Path, f.Class)
}
