package project

import "strings"

// versionKey is the plugin key under which operon records its version. cliVersion
// belongs to kubebuilder and operator-sdk.
const versionKey = "cli.operon.dev/v1"

// RecordVersion records the version of the operon that writes PROJECT.
func (c *Config) RecordVersion(version string) {
	c.SetPluginKey(versionKey, "version", version)
}

// IsOldGoLayout reports whether a layout key is that of an earlier layout of kubebuilder for Go.
func IsOldGoLayout(key string) bool {
	return key == "go" || strings.HasPrefix(key, "go.kubebuilder.io/v2") || strings.HasPrefix(key, "go.kubebuilder.io/v3")
}
