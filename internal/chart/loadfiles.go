package chart

import (
	"maps"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

// LoadFiles reads a chart from the contents of its files by their slash-separated paths in the
// chart. The error is an *Error.
func LoadFiles(files map[string][]byte) (*chart.Chart, error) {
	var all []*loader.BufferedFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all = append(all, &loader.BufferedFile{Name: name, Data: files[name]})
	}
	c, err := loader.LoadFiles(all)
	if err != nil {
		return nil, loadError("", err, contentIn(all))
	}
	return c, nil
}
