package external

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/plugin"
	"sigs.k8s.io/yaml"
)

// manifestFile lies beside the program of a plugin for operon. It says what operon must know before it
// runs the program: help, flags and completion need no process.
const manifestFile = "plugin.yaml"

// manifest is its content.
type manifest struct {
	Description string             `json:"description"`
	Events      []plugin.EventType `json:"events"` // that the program gets
	Reads       []string           `json:"reads"`  // files that it gets: paths, or patterns of path.Match
	Flags       []manifestFlag     `json:"flags"`
}

type manifestFlag struct {
	Name    string             `json:"name"`
	Type    string             `json:"type"` // string (the default), bool or list
	Default string             `json:"default"`
	Usage   string             `json:"usage"`
	Values  []string           `json:"values"` // the only valid values; empty means any
	Events  []plugin.EventType `json:"events"` // that have the flag; empty means all events of the plugin
}

// knownEvents are the events that a plugin can ask for.
var knownEvents = []plugin.EventType{plugin.Init, plugin.CreateAPI, plugin.CreateWebhook, plugin.CreateModule, plugin.CreateHook, plugin.Edit, plugin.Generate}

var flagName = lazyregexp.New(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// readManifest reads the manifest beside a program.
func readManifest(program string) (manifest, error) {
	var m manifest
	file := filepath.Join(filepath.Dir(program), manifestFile)
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fault.Usage("create it as docs/plugins.md describes, or move a plugin for kubebuilder to the folder of kubebuilder's plugins", "the plugin has no %s", file)
	}
	if err == nil {
		err = yaml.UnmarshalStrict(src, &m)
	}
	if err != nil {
		return m, fault.Usage("docs/plugins.md describes its keys", "%s: %s", file, jsonReason(fault.Reason(err)))
	}
	return m, fault.In(file, m.validate())
}

func (m manifest) validate() error {
	if len(m.Events) == 0 {
		return fault.Usage("list the events that the plugin gets, as in events: [init, create-api]", "the key events is missing")
	}
	for _, pattern := range m.Reads {
		if _, err := path.Match(pattern, ""); err != nil {
			return fault.Usage("use * and ? as in a shell", "reads: %q is not a valid pattern", pattern)
		}
		if !isPattern(pattern) && (pattern == "." || !fs.ValidPath(pattern)) {
			return fault.Usage("write a path relative to the root of the project, such as config/rbac/role.yaml", "reads: %q is not a path in the project", pattern)
		}
	}
	events := slices.Clone(m.Events)
	for i, f := range m.Flags {
		if err := f.validate(); err != nil {
			return err
		}
		if slices.ContainsFunc(m.Flags[:i], func(other manifestFlag) bool { return other.Name == f.Name }) {
			return fault.Usage("keep one entry, and list all its events", "flags: %s occurs twice", f.Name)
		}
		events = append(events, f.Events...)
	}
	for _, e := range events {
		if !slices.Contains(knownEvents, e) {
			return fault.Usage("valid events: init, create-api, create-webhook, create-module, create-hook, edit, generate", "unknown event %q", e)
		}
	}
	return nil
}

func (f manifestFlag) validate() error {
	switch {
	case !flagName().MatchString(f.Name) || f.Name == "help":
		return fault.Usage("use lowercase letters, digits and dashes, and not help", "flags: %q is not a valid flag name", f.Name)
	case !slices.Contains([]string{"", "string", "bool", "list"}, f.Type):
		return fault.Usage("valid types: string, bool, list", "flags: %s has the type %q", f.Name, f.Type)
	case f.Type == "bool" && !slices.Contains([]string{"", "true", "false"}, f.Default):
		return fault.Usage("write true or false", "flags: %s has the default %q", f.Name, f.Default)
	case f.Type == "bool" && len(f.Values) > 0:
		return fault.Usage("remove values, or use the type string", "flags: %s is a bool, and has values", f.Name)
	case f.Default != "" && !f.accepts(f.Default):
		return fault.Usage("choose one of "+strings.Join(f.Values, ", "), "flags: the values of %s do not include its default %q", f.Name, f.Default)
	}
	return nil
}

// accepts reports whether the flag can have a value, or an item of a list.
func (f manifestFlag) accepts(value string) bool {
	return len(f.Values) == 0 || slices.Contains(f.Values, value)
}

// isPattern reports whether an entry of reads is a pattern instead of a path.
func isPattern(entry string) bool { return strings.ContainsAny(entry, `*?[\`) }

// options returns the flags as operon's own plugins declare them.
func (m manifest) options() []plugin.Option {
	var all []plugin.Option
	for _, f := range m.Flags {
		o := plugin.Option{Name: f.Name, Default: f.Default, Usage: f.Usage, Values: f.Values, Events: f.Events}
		if len(o.Events) == 0 {
			o.Events = m.Events
		}
		switch f.Type {
		case "bool":
			o.Default = f.Default == "true"
		case "list":
			o.Default = []string(nil)
			if f.Default != "" {
				o.Default = []string{f.Default}
			}
		}
		all = append(all, o)
	}
	return all
}
