package external

import (
	"cmp"
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

// response is the line that it prints for a request.
type response struct {
	Files    []file         `json:"files"`
	Config   map[string]any `json:"config"` // what PROJECT records for the plugin; nil: no change
	Warnings []warning      `json:"warnings"`
	Error    string         `json:"error"`
	Hint     string         `json:"hint"`
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

// OperonPlugin is a plugin that speaks operon's protocol. One process serves a command.
type OperonPlugin struct {
	Program
	manifest manifest
	session  *session
	returned map[string]bool // the files of all responses of the command
	replayed bool            // the command sends all events of PROJECT again
}

var _ plugin.Plugin = &OperonPlugin{}

// NewOperonPlugin reads the manifest of a plugin.
func NewOperonPlugin(p Program) (*OperonPlugin, error) {
	m, err := readManifest(p.Path)
	return &OperonPlugin{Program: p, manifest: m, returned: map[string]bool{}}, err
}

// Name implements plugin.Plugin.
func (o *OperonPlugin) Name() string { return o.Key() }

// Doc implements plugin.Plugin.
func (o *OperonPlugin) Doc() string { return o.manifest.Description }

// Options implements plugin.Plugin.
func (o *OperonPlugin) Options() []plugin.Option { return o.manifest.options() }

// Plan implements plugin.Plugin. A program cannot say what it would generate, so Explain does not run it.
func (o *OperonPlugin) Plan(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	o.replayed = o.replayed || e.Type == plugin.Init && e.Replay
	if e.Explain != nil {
		return nil
	}
	complete := e.Type == plugin.Generate && !e.ManifestsOnly && len(e.Args)+len(e.Options) == 0
	if !slices.Contains(o.manifest.Events, e.Type) {
		if complete { // an earlier version of the plugin may have had the event
			return o.removeStale(generateSource, p)
		}
		return nil
	}
	if e.Type == plugin.Generate {
		p.DependsOn(func() ([]string, bool) { return nil, false }) // it is unknown what the program reads
	}
	var err error
	if e.Options, err = o.declaredOptions(e); err != nil {
		return err
	}
	sent, err := o.read(p)
	if err != nil {
		return fault.In("the plugin "+o.Key()+": reads", err)
	}
	r, err := o.request(ctx, request{e, sent})
	if err != nil {
		return err
	}
	for _, w := range r.Warnings {
		p.Warn(scaffold.Warning{File: w.File, Line: w.Line, Rule: o.Key(), Message: joinLines(w.Message)})
	}
	if r.Config != nil {
		e.Project.EncodePluginConfig(o.Key(), r.Config)
	}
	if err := o.plan(e.Type, r.Files, sent, p); err != nil || !complete {
		return err
	}
	return o.removeStale(generateSource, p)
}

// request sends a request to the process, which it starts if necessary, and returns the response, or the error
// that the plugin reports.
func (o *OperonPlugin) request(ctx context.Context, r request) (response, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return response{}, err
	}
	if o.session == nil {
		if o.session, err = o.start(ctx); err != nil {
			return response{}, err
		}
	}
	if text, err = o.session.request(ctx, append(text, '\n')); err != nil {
		return response{}, err
	}
	var result response
	if err := decode(o.Key(), text, true, &result); err != nil {
		return response{}, err
	}
	if result.Error != "" {
		return response{}, fault.Failed(joinLines(result.Hint), "the plugin %s: %s", o.Key(), joinLines(result.Error))
	}
	return result, nil
}

// End ends the process of the command, which must have nothing more to say. After a replay, it removes what the
// plugin no longer returns.
func (o *OperonPlugin) End(p *scaffold.Plan) error {
	s, replayed := o.session, o.replayed
	defer func() { o.session, o.replayed, o.returned = nil, false, map[string]bool{} }()
	if s != nil {
		if err := s.end(); err != nil {
			return err
		}
	}
	if !replayed {
		return nil
	}
	return o.removeStale(replaySource, p)
}

// declaredOptions returns the options of an event that the manifest declares.
func (o *OperonPlugin) declaredOptions(e plugin.Event) (map[string]any, error) {
	own := map[string]any{}
	for _, f := range o.manifest.Flags {
		v, given := e.Options[f.Name]
		if !given {
			continue
		}
		values := e.Strings(f.Name)
		if text, isText := v.(string); isText {
			values = []string{text}
		}
		for _, value := range values {
			if !f.accepts(value) {
				return nil, fault.Usage("valid values: "+strings.Join(f.Values, ", "), "--%s cannot be %q", f.Name, value)
			}
		}
		own[f.Name] = v
	}
	return own, nil
}

// read returns the texts that the manifest reads.
func (o *OperonPlugin) read(p *scaffold.Plan) (map[string]string, error) {
	files, size := map[string]string{}, 0
	names, err := o.names(p)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		content, err := p.Editable(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, &fault.Error{Code: fault.Code(err), Hint: cmp.Or(fault.HintOf(err), "list files below reads; the pattern api/* matches those of the folder api"), Err: err}
		case scaffold.IsText(content):
			files[name] = string(content)
			size += len(content)
		}
	}
	if size > maxTexts {
		return nil, fault.Failed("list fewer files below reads", "the files have more than %d MiB", maxTexts>>20)
	}
	return files, nil
}

// names returns the paths in reads, and those of the text files that its patterns match.
func (o *OperonPlugin) names(p *scaffold.Plan) ([]string, error) {
	var names, all []string
	for _, pattern := range o.manifest.Reads {
		if !isPattern(pattern) {
			names = append(names, pattern)
			continue
		}
		if all == nil {
			var err error
			if all, err = p.TextFiles(); err != nil {
				return nil, err
			}
		}
		for _, name := range all {
			if matched, _ := path.Match(pattern, name); matched {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") }

// plan plans the files of the response to an event.
func (o *OperonPlugin) plan(event plugin.EventType, files []file, sent map[string]string, p *scaffold.Plan) error {
	if err := checkCount(o.Key(), len(files)); err != nil {
		return err
	}
	for _, f := range files {
		if f.Path == project.File {
			return fault.Failed("use the key config of the response, which PROJECT records", "the plugin %s must not write PROJECT", o.Key())
		}
		var before []byte
		if text, read := sent[f.Path]; read {
			before = []byte(text)
		}
		if err := cmp.Or(check(o.Key(), f.Path, []byte(f.Content), p), checkGo(o.Key(), f.Path, before, []byte(f.Content))); err != nil {
			return err
		}
	}
	for _, f := range files {
		o.returned[f.Path] = true
		if err := o.planFile(event, f, sent, p); err != nil {
			return fault.In("the plugin "+o.Key(), err)
		}
	}
	return nil
}

func (o *OperonPlugin) planFile(event plugin.EventType, f file, sent map[string]string, p *scaffold.Plan) error {
	content := []byte(f.Content)
	switch f.Class {
	case "", string(scaffold.Seeded):
		return p.Seed(f.Path, mode(content), content)
	case string(scaffold.Shared):
		return p.Share(f.Path, mode(content), content)
	case string(scaffold.Generated):
		return p.Claim(o.generator(event, f.Path, p), f.Path, content)
	case edited:
		before, read := sent[f.Path]
		if !read {
			return fault.Failed("list it below reads in "+manifestFile, "%s is edited, but the plugin did not read it", f.Path)
		}
		return p.Edit(f.Path, func(src []byte) ([]byte, error) {
			merged, clean := merge.Text([]byte(before), src, content)
			if !clean {
				return nil, fault.Failed("let the plugin add its lines in another place",
					"%s: another plugin, or an earlier event of this command, changed the same lines", f.Path)
			}
			return merged, nil
		})
	}
	return fault.Failed("valid classes: seeded, shared, generated, edited", "%s has the class %q", f.Path, f.Class)
}
