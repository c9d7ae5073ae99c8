package chart

import (
	"encoding/base64"
	"path"
	"strings"

	"github.com/gobwas/glob"
	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"
)

// Files are the files of a chart that are not templates. Templates access them as .Files.
type Files map[string][]byte

func filesOf(all []*chart.File) Files {
	files := Files{}
	for _, f := range all {
		files[f.Name] = f.Data
	}
	return files
}

// GetBytes returns the content of a file. It is empty if the file does not exist.
func (f Files) GetBytes(name string) []byte {
	if content, exists := f[name]; exists {
		return content
	}
	return []byte{}
}

// Get returns the text of a file, or "" if it does not exist.
func (f Files) Get(name string) string { return string(f[name]) }

// Glob returns the files whose paths match a pattern. An invalid pattern matches all files.
func (f Files) Glob(pattern string) Files {
	g, err := glob.Compile(pattern, '/')
	if err != nil {
		g = glob.MustCompile("**")
	}
	matching := Files{}
	for name, content := range f {
		if g.Match(name) {
			matching[name] = content
		}
	}
	return matching
}

// AsConfig returns the data of a ConfigMap with the files. The keys are their base names.
func (f Files) AsConfig() string {
	return f.data(func(content []byte) string { return string(content) })
}

// AsSecrets returns the data of a Secret with the files. The keys are their base names.
func (f Files) AsSecrets() string { return f.data(base64.StdEncoding.EncodeToString) }

func (f Files) data(text func([]byte) string) string {
	if f == nil {
		return ""
	}
	data := map[string]string{}
	for name, content := range f {
		data[path.Base(name)] = text(content)
	}
	return textOrEmpty(yaml.Marshal(data))
}

// Lines returns the lines of a file.
func (f Files) Lines(name string) []string {
	if len(f[name]) == 0 {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(string(f[name]), "\n"), "\n")
}
