package chart

import (
	"bytes"
	"maps"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"
)

// LoadFiles reads a chart from the contents of its files by their slash-separated paths in the
// chart, without those that .helmignore excludes. The error is an *Error.
func LoadFiles(files map[string][]byte) (*chart.Chart, error) {
	rules, err := ignoreRules(files[ignore.HelmIgnore])
	if err != nil {
		return nil, err
	}
	var all []*loader.BufferedFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !rules.excludes(name) {
			all = append(all, &loader.BufferedFile{Name: name, Data: bytes.TrimPrefix(files[name], []byte("\uFEFF"))})
		}
	}
	c, err := loader.LoadFiles(all)
	if err != nil {
		return nil, loadError(err, contentIn(all))
	}
	return c, nil
}
