package project

// versionKey is the plugin key under which operon records its version. cliVersion
// belongs to kubebuilder and operator-sdk.
const versionKey = "cli.operon.dev/v1"

// RecordVersion records the version of the operon that writes PROJECT.
func (c *Config) RecordVersion(version string) {
	c.EncodePluginConfig(versionKey, struct {
		Version string `json:"version"`
	}{version})
}
