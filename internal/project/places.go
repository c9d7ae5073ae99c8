package project

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/goenv"
	"golang.org/x/mod/module"
)

// PlacesKey is the key below plugins in PROJECT that records where a project which operon did not
// start keeps its code:
//
//	layout.operon.dev/v1:
//	  main: cmd/controller/main.go
//	  api: pkg/apis/{group}/{version}
//	  controllers: controllers/{group}
//	  webhooks: internal/webhook/{version}
const PlacesKey = "layout.operon.dev/v1"

// Places are the recorded places of a project's code. An empty value means the place of the
// layout rule. Paths use slashes and are relative to the root. In folders, {group} stands for the
// group without the domain, and {version} for the API version; the rule for these folders is then
// the same with and without multigroup.
type Places struct {
	Main        string `json:"main,omitempty"`        // the Go file in which the manager is made, in any package
	API         string `json:"api,omitempty"`         // the folder of the types of a new group version
	Controllers string `json:"controllers,omitempty"` // the folder of new controllers
	Webhooks    string `json:"webhooks,omitempty"`    // the folder of new webhooks
}

const (
	groupPlaceholder   = "{group}"
	versionPlaceholder = "{version}"
)

// placeChecks has the keys of Places in PROJECT, and the rule for each value.
var placeChecks = map[string]func(key, value string) error{
	"main": checkMainFile, "api": checkAPIFolder, "controllers": checkFolder, "webhooks": checkFolder,
}

// Places returns the recorded places. Parse has validated them.
func (c *Config) Places() Places {
	recorded, _ := c.Plugins[PlacesKey].(map[string]any)
	text := func(key string) string {
		s, _ := recorded[key].(string)
		return s
	}
	return Places{Main: text("main"), API: text("api"), Controllers: text("controllers"), Webhooks: text("webhooks")}
}

// SetPlaces records the places. It omits a main file that is the default; whether a folder is the
// default depends on multigroup, so that the caller decides.
func (c *Config) SetPlaces(p Places) {
	if p.Main == DefaultMainFile {
		p.Main = ""
	}
	for key, value := range map[string]string{"main": p.Main, "api": p.API, "controllers": p.Controllers, "webhooks": p.Webhooks} {
		switch {
		case value != "":
			c.SetPluginKey(PlacesKey, key, value)
		case c.Plugins[PlacesKey] != nil:
			c.SetPluginKey(PlacesKey, key, nil)
		}
	}
}

// Validate checks the form of the places.
func (p Places) Validate() error {
	for _, place := range []struct{ key, value string }{
		{"main", p.Main}, {"api", p.API}, {"controllers", p.Controllers}, {"webhooks", p.Webhooks},
	} {
		if place.value == "" {
			continue
		}
		if err := placeChecks[place.key](place.key, place.value); err != nil {
			return err
		}
	}
	return nil
}

// checkPlaces checks the recorded places. An unknown key may come from a newer operon, which would
// write to another place.
func (d *decoder) checkPlaces(c *Config) {
	value, ok := c.Plugins[PlacesKey]
	if !ok || d.err != nil {
		return
	}
	at := []any{"plugins", PlacesKey}
	recorded, ok := value.(map[string]any)
	if !ok {
		d.fail(at, "write main: cmd/manager/main.go below it, or remove it", "%s is not a mapping", PlacesKey)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(recorded)) {
		at := append(slices.Clone(at), key)
		check, known := placeChecks[key]
		text, isText := recorded[key].(string)
		switch {
		case !known:
			d.fail(at, "use "+strings.Join(slices.Sorted(maps.Keys(placeChecks)), ", ")+", or a newer operon", "%s: unknown key %q", PlacesKey, key)
		case !isText:
			d.fail(at, "write a path, or remove the key", "%s: %s is not a string", PlacesKey, key)
		default:
			if err := check(key, text); err != nil {
				d.fail(at, fault.HintOf(err), "%s: %s", PlacesKey, err)
			}
		}
	}
}

func checkMainFile(key, value string) error {
	const hint = "write the Go file that creates the manager, as in main: cmd/manager/main.go"
	if err := checkRelative(hint, key, value); err != nil {
		return err
	}
	if !strings.HasSuffix(value, ".go") || strings.HasSuffix(value, "_test.go") {
		return fault.Usage(hint, "%s: %s is not a Go file of a program", key, value)
	}
	return nil
}

// checkAPIFolder requires a folder for each version: its package can declare a kind only once.
func checkAPIFolder(key, value string) error {
	if err := checkFolder(key, value); err != nil {
		return err
	}
	if !strings.Contains(value, versionPlaceholder) {
		hint := "write it as in api: pkg/apis/" + groupPlaceholder + "/" + versionPlaceholder
		return fault.Usage(hint, "%s: %s lacks %s", key, value, versionPlaceholder)
	}
	return nil
}

// checkFolder checks the folder of a Go package, with placeholders.
func checkFolder(key, value string) error {
	hint := "write a folder of the repository, as in " + key + ": pkg/" + key + "/" + versionPlaceholder
	folder := strings.NewReplacer(groupPlaceholder, "g", versionPlaceholder, "v1").Replace(value)
	if _, after, found := strings.Cut(folder, "{"); found {
		name, _, _ := strings.Cut(after, "}")
		return fault.Usage("use "+groupPlaceholder+" and "+versionPlaceholder, "%s: %s has the unknown placeholder {%s}", key, value, name)
	}
	if err := checkRelative(hint, key, value); err != nil {
		return err
	}
	if slices.ContainsFunc(strings.Split(folder, "/"), goenv.Ignores) || module.CheckImportPath(folder) != nil {
		return fault.Usage(hint, "%s: %s is not the folder of a Go package", key, value)
	}
	return nil
}

// checkRelative requires a clean path below the root.
func checkRelative(hint, key, value string) error {
	if value == "" || value == "." || value == ".." || strings.HasPrefix(value, "../") || strings.Contains(value, `\`) ||
		path.IsAbs(value) || path.Clean(value) != value {
		return fault.Usage(hint, "%s: %q is not a path in the repository", key, value)
	}
	return nil
}

// folder returns the folder that a pattern stands for. An empty group has no folder.
func folder(pattern string, r Resource) string {
	return path.Clean(strings.NewReplacer(groupPlaceholder, r.Group, versionPlaceholder, r.Version).Replace(pattern))
}
