package chart

// helmVersion is the version of Helm that templates see in .Capabilities.HelmVersion:
// major and minor version of the module helm.sh/helm/v3 in go.mod. Build information has
// it, too, but not in test binaries.
const helmVersion = "v3.22"
