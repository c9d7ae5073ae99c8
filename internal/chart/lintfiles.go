package chart

import (
	"bytes"
	"fmt"
	"net/mail"
	"net/url"
	"path"
	"regexp"
	"slices"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart"
)

// LintFiles returns the mistakes in the files of a chart for which Helm's linter fails, without those for
// which Helm cannot load the chart.
func LintFiles(c *chart.Chart) []*Error {
	return slices.Concat(lintMetadata(c), lintDependencies(c), lintTemplates(c))
}

// lintMetadata checks Chart.yaml.
func lintMetadata(c *chart.Chart) (found []*Error) {
	keys := metadataKeys(c)
	report := func(key, format string, args ...any) {
		found = append(found, &Error{File: "Chart.yaml", Line: keys[key].line, Msg: fmt.Sprintf(format, args...)})
	}
	for _, key := range []string{"version", "appVersion"} {
		if v := keys[key].value; v != nil && v.Tag != "!!str" {
			report(key, "%s is not a text: write it in quotes", key)
		}
	}
	for _, m := range c.Metadata.Maintainers {
		if _, err := mail.ParseAddress(m.Email); m.Email != "" && err != nil {
			report("maintainers", "the maintainer %s has the invalid email address %q", m.Name, m.Email)
		}
		if m.URL != "" && !isRequestURL(m.URL) && !isRequestURL("https://"+m.URL) {
			report("maintainers", "the maintainer %s has the invalid URL %q", m.Name, m.URL)
		}
	}
	for _, source := range c.Metadata.Sources {
		if !isRequestURL(source) {
			report("sources", "the source %q is not a URL", source)
		}
	}
	if icon := c.Metadata.Icon; icon != "" && !isRequestURL(icon) {
		report("icon", "the icon %q is not a URL", icon)
	}
	for _, key := range []string{"dependencies", "type"} {
		if c.Metadata.APIVersion == chart.APIVersionV1 && keys[key].value != nil {
			report(key, "%s needs apiVersion v2", key)
		}
	}
	return found
}

// isRequestURL reports whether a text is a URL with a scheme.
func isRequestURL(text string) bool {
	u, err := url.ParseRequestURI(text)
	return err == nil && u.Scheme != ""
}

// metadataKey is a key in Chart.yaml.
type metadataKey struct {
	line  int
	value *yaml.Node
}

// metadataKeys returns the keys in Chart.yaml.
func metadataKeys(c *chart.Chart) map[string]metadataKey {
	keys := map[string]metadataKey{}
	for _, f := range c.Raw {
		var doc yaml.Node
		if f.Name != "Chart.yaml" || yaml.Unmarshal(f.Data, &doc) != nil || len(doc.Content) == 0 {
			continue
		}
		for pair := range slices.Chunk(doc.Content[0].Content, 2) {
			keys[pair[0].Value] = metadataKey{pair[0].Line, pair[1]}
		}
	}
	return keys
}

// lintDependencies compares the dependencies in Chart.yaml with the charts in the folder charts.
func lintDependencies(c *chart.Chart) (found []*Error) {
	for _, d := range c.Dependencies() {
		if !slices.ContainsFunc(c.Metadata.Dependencies, func(entry *chart.Dependency) bool { return entry.Name == d.Name() }) {
			found = append(found, &Error{File: "Chart.yaml", Line: metadataKeys(c)["dependencies"].line, Msg: fmt.Sprintf("the chart %s in the folder charts is not among the dependencies", d.Name())})
		}
	}
	return found
}

var (
	crdHook     = lazyregexp.New(`"?helm\.sh/hook"?:\s+crd-install`)
	releaseTime = lazyregexp.New(`\.Release\.Time`)
)

// lintTemplates checks the texts of templates.
func lintTemplates(c *chart.Chart) (found []*Error) {
	for _, t := range c.Templates {
		if !slices.Contains([]string{".yaml", ".yml", ".tpl", ".txt"}, path.Ext(t.Name)) {
			found = append(found, &Error{File: t.Name, Msg: "Helm renders the file, but the extension is none of .yaml, .yml, .tpl and .txt"})
		}
		report := func(pattern *regexp.Regexp, message string) {
			if at := pattern.FindIndex(t.Data); at != nil {
				found = append(found, &Error{File: t.Name, Line: 1 + bytes.Count(t.Data[:at[0]], []byte("\n")), Msg: message})
			}
		}
		report(crdHook(), "Helm 3 ignores crd-install hooks: move the CRD to the folder crds")
		report(releaseTime(), ".Release.Time does not exist in Helm 3: use now")
	}
	return found
}
