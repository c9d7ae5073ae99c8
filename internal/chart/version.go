package chart

// helmVersion is the version in .Capabilities.HelmVersion: the major and minor version of the
// module helm.sh/helm/v3 in go.mod. Build information also has it, but not in test binaries.
const helmVersion = "v3.22"
