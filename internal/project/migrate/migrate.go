// Package migrate converts PROJECT files of earlier schema versions to version 3.
package migrate

import (
	"fmt"
	"maps"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// ToVersion3 converts a PROJECT file of the schema versions 1, 2 and 3-alpha to version 3, and keeps its
// comments. Versions 1 and 2 record little of what version 3 does: the result lacks the layout, the name and parts
// of the resources. read reads other files of the project; see Alpha. A file of version 3 stays as it is.
func ToVersion3(src []byte, read func(name string) ([]byte, error)) ([]byte, error) {
	return convert(src, read, true)
}

// Alpha converts a PROJECT file from the schema version 3-alpha to version 3, and keeps
// its comments. What 3-alpha does not record comes from the files of the project: scopes from
// CRDs, controllers and webhooks from Go files. A file of version 3 stays as it is. Errors come
// from project.Parse.
func Alpha(src []byte, read func(name string) ([]byte, error)) ([]byte, error) {
	return convert(src, read, false)
}

// convert converts a file of version 3-alpha, and with older one of version 1 or 2.
func convert(src []byte, read func(name string) ([]byte, error), older bool) ([]byte, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, &fault.Error{Code: fault.CodeUsage, Hint: fault.HintOf(err), Err: err}
	}
	var want map[string]any
	version := fmt.Sprint(doc.Value["version"])
	switch {
	case version == project.AlphaVersion:
		if want, err = fromAlpha(doc, read); err != nil {
			return nil, err
		}
	case older && (version == "1" || version == "2"):
		want = fromVersion2(doc.Value)
	default:
		_, err := project.Parse(src)
		return src, err
	}
	want["version"] = project.SchemaVersion
	out, err := yamledit.Rewrite(src, want)
	if err != nil {
		return nil, err
	}
	_, err = project.Parse(out)
	return out, err
}

// fromVersion2 returns the values in version 3 of a file of version 1 or 2.
func fromVersion2(old map[string]any) map[string]any {
	want := maps.Clone(old)
	if list, ok := old["resources"].([]any); ok {
		resources := make([]any, len(list))
		for i, item := range list {
			resources[i] = withDomain(item, want["domain"])
		}
		want["resources"] = resources
	}
	return want
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
	if k, err := project.FindCore(group, version, kind); err == nil {
		maps.Copy(m, k.Resource().Entry())
	} else if m["domain"] == nil && domain != nil {
		m["domain"] = domain
	}
	return m
}
