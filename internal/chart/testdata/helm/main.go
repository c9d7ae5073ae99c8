// Command helm renders charts with Helm. It reads a JSON list of folders and values from stdin,
// and writes a JSON list of the results to the file in its argument.
package main

import (
	"encoding/json"
	"log"
	"os"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

func main() {
	var cases []struct {
		Dir    string
		Values map[string]any
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		log.Fatal(err)
	}
	type result struct {
		Refused bool              `json:"refused,omitempty"`
		Files   map[string]string `json:"files,omitempty"`
	}
	results := make([]result, len(cases))
	for i, c := range cases {
		files, err := render(c.Dir, c.Values)
		results[i] = result{err != nil, files}
	}
	out, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], append(out, '\n'), 0o644); err != nil {
		log.Fatal(err)
	}
}

func render(dir string, values map[string]any) (map[string]string, error) {
	c, err := loader.LoadDir(dir)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.37.0", Major: "1", Minor: "37"}
	capabilities.APIVersions = chartutil.VersionSet{"v1", "apps/v1", "apps/v1/Deployment"}
	options := chartutil.ReleaseOptions{Name: "release", Namespace: "space", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, values, options, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}
