package project

import (
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// TemplateSource says where a project has the templates that it shares with other projects, below
// cli.operon.dev/v1. Either Path or Module is set, or none.
//
//	cli.operon.dev/v1:
//	  templates:
//	    module: example.org/templates
//	    version: v1.2.0
//	    sum: h1:...
type TemplateSource struct {
	Path    string `json:"path,omitempty"` // a folder, relative to the project or absolute
	Module  string `json:"module,omitempty"`
	Version string `json:"version,omitempty"`
	Sum     string `json:"sum,omitempty"` // of the module, as in go.sum
}

// ParseTemplateSource returns the source that a flag names: a folder, or module@version. A path that is
// absolute or starts with a dot is a folder.
func ParseTemplateSource(text string) TemplateSource {
	module, version, found := strings.Cut(text, "@")
	if found && module != "" && !strings.HasPrefix(text, ".") && !filepath.IsAbs(text) {
		return TemplateSource{Module: module, Version: version}
	}
	return TemplateSource{Path: text}
}

// String is the inverse of ParseTemplateSource.
func (s TemplateSource) String() string {
	if s.Module != "" {
		return s.Module + "@" + s.Version
	}
	return s.Path
}

// Templates returns the source of shared templates that PROJECT records.
func (c *Config) Templates() (TemplateSource, error) {
	var record struct {
		Templates TemplateSource `json:"templates"`
	}
	if err := c.DecodePluginConfig(versionKey, &record); err != nil {
		return TemplateSource{}, err
	}
	s := record.Templates
	if s.Path != "" && s.Module != "" || s.Module != "" && (s.Version == "" || s.Sum == "") {
		return s, InPluginConfig(versionKey, fault.Usage("record it with operon edit --templates", "templates needs a path, or a module with version and sum"))
	}
	return s, nil
}

// SetTemplates records the source of shared templates; the zero value removes it.
func (c *Config) SetTemplates(s TemplateSource) {
	if s == (TemplateSource{}) {
		c.SetPluginKey(versionKey, "templates", nil)
		return
	}
	c.SetPluginKey(versionKey, "templates", plainData(s))
}
