package project

import (
	"fmt"
	"maps"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
)

// IsOldGoLayout reports whether a layout key is that of an earlier layout of kubebuilder for Go.
func IsOldGoLayout(key string) bool {
	return key == "go" || strings.HasPrefix(key, "go.kubebuilder.io/v2") || strings.HasPrefix(key, "go.kubebuilder.io/v3")
}

// MigrateOld converts a PROJECT file of the schema versions 1, 2 and 3-alpha to version 3, and keeps its
// comments. Versions 1 and 2 record little of what version 3 does: the result lacks the layout, the name and parts
// of the resources. read reads other files of the project; see MigrateAlpha. A file of version 3 stays as it is.
func MigrateOld(src []byte, read func(name string) ([]byte, error)) ([]byte, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, &fault.Error{Code: fault.CodeUsage, Hint: fault.HintOf(err), Err: err}
	}
	switch fmt.Sprint(doc.Value["version"]) {
	default:
		return MigrateAlpha(src, read)
	case "1", "2":
	}
	want := maps.Clone(doc.Value)
	want["version"] = SchemaVersion
	if list, ok := doc.Value["resources"].([]any); ok {
		resources := make([]any, len(list))
		for i, item := range list {
			resources[i] = withDomain(item, want["domain"])
		}
		want["resources"] = resources
	}
	out, err := yamledit.Rewrite(src, want)
	if err != nil {
		return nil, err
	}
	_, err = Parse(out)
	return out, err
}

// withDomain returns an entry of resources with the domain that version 2 leaves out. Kinds of Kubernetes have
// another one.
func withDomain(item, domain any) any {
	m, ok := item.(map[string]any)
	if !ok {
		return item
	}
	m = maps.Clone(m)
	group, _ := m["group"].(string)
	version, _ := m["version"].(string)
	kind, _ := m["kind"].(string)
	if k, err := FindCore(group, version, kind); err == nil {
		maps.Copy(m, plainData(k.Resource()))
	} else if m["domain"] == nil && domain != nil {
		m["domain"] = domain
	}
	return m
}

// EncodeCorrected is Encode for a Config whose first resources are those of src, in order, some with another group.
// It keeps the comments and unknown keys of these, too.
func (c *Config) EncodeCorrected(src []byte) ([]byte, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, err
	}
	list, _ := doc.Value["resources"].([]any)
	resources := make([]any, len(list))
	for i, item := range list {
		m, ok := item.(map[string]any)
		if resources[i] = item; !ok || i >= len(c.Resources) {
			continue
		}
		m = maps.Clone(m)
		for key, value := range map[string]string{"group": c.Resources[i].Group, "domain": c.Resources[i].Domain} {
			if delete(m, key); value != "" {
				m[key] = value
			}
		}
		resources[i] = m
	}
	want := maps.Clone(doc.Value)
	if len(list) > 0 {
		want["resources"] = resources
	}
	if src, err = yamledit.Rewrite(src, want); err != nil {
		return nil, err
	}
	return c.Encode(src)
}
