package project

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
)

// BundlePlugin is the key of the plugin olm in PROJECT, which operator-sdk uses, too.
const BundlePlugin = "manifests.sdk.operatorframework.io/v2"

// Bundle is what PROJECT declares about the bundle of the operator, below plugins and BundlePlugin.
// Empty values are not declared.
type Bundle struct {
	Package        string   `json:"package"`
	Version        string   `json:"version"` // semantic, without "v"
	Channels       []string `json:"channels"`
	DefaultChannel string   `json:"defaultChannel"`
	Description    string   `json:"description"` // a file with Markdown, relative to the project
	Replaces       string   `json:"replaces"`    // the name of a ClusterServiceVersion, such as fleet.v0.1.0
	Skips          []string `json:"skips"`       // names, as above
	SkipRange      string   `json:"skipRange"`   // such as ">=0.1.0 <0.2.0"
}

var bundleKeys = []string{"channels", "defaultChannel", "description", "package", "replaces", "skipRange", "skips", "version"}

// Bundle returns what PROJECT declares about the bundle.
func (c *Config) Bundle() (Bundle, error) {
	declared, _ := c.Plugins[BundlePlugin].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(declared)) {
		if !slices.Contains(bundleKeys, key) {
			return Bundle{}, InPluginConfig(BundlePlugin, fault.Usage("valid keys: "+strings.Join(bundleKeys, ", "), "unknown key %q", key))
		}
	}
	for _, key := range []string{"channels", "skips"} {
		if text, ok := declared[key].(string); ok {
			return Bundle{}, InPluginConfig(BundlePlugin, fault.Usage("write "+key+": ["+text+"]", "%s is not a list", key))
		}
	}
	var b Bundle
	err := c.DecodePluginConfig(BundlePlugin, &b)
	return b, err
}
