// Package pins holds the versions that operon writes into projects and builds
// test assets from. `make pins` checks that they resolve and that the go.mod
// of the scaffold agrees with them. A test checks that no template contains
// another version.
package pins

// Versions that a scaffolded project depends on or calls.
const (
	Go                = "1.26.0"  // the go directive of a new go.mod
	ControllerRuntime = "v0.25.2" // sigs.k8s.io/controller-runtime
	ControllerTools   = "v0.23.0" // sigs.k8s.io/controller-tools, the generators
	KubernetesAPI     = "v0.37.1" // k8s.io/api, apimachinery, client-go
	Kubernetes        = "1.37.1"  // the control plane of envtest
	Ginkgo            = "v2.34.0" // github.com/onsi/ginkgo/v2
	Gomega            = "v1.44.0" // github.com/onsi/gomega
	Randfill          = "v1.0.0"  // sigs.k8s.io/randfill, random objects for tests
	SetupEnvtest      = "v0.25.1" // sigs.k8s.io/controller-runtime/tools/setup-envtest
	Kustomize         = "v5.8.1"  // sigs.k8s.io/kustomize/kustomize/v5
	GolangciLint      = "v2.13.1" // github.com/golangci/golangci-lint/v2
	Kind              = "v0.33.0" // sigs.k8s.io/kind, the cluster of the end-to-end tests
	CertManager       = "v1.21.1" // github.com/cert-manager/cert-manager, its released manifests
	CertController    = "v0.16.0" // github.com/open-policy-agent/cert-controller, the manager's own certificates
	AddonOperator     = "v1.24.6" // flant/addon-operator, the engine of modules
	ShellOperator     = "v1.20.1" // ghcr.io/flant/shell-operator, the engine of hooks
	HelmOperator      = "v1.42.3" // quay.io/operator-framework/helm-operator, the engine of charts
	HelmPlugins       = "v0.9.1"  // github.com/operator-framework/helm-operator-plugins, the library of that engine
	Helm              = "v3.22.0" // helm.sh/helm/v3, which that library calls
	ScorecardTest     = "v1.42.3" // quay.io/operator-framework/scorecard-test, the built-in tests of operator-sdk
	opm               = "v1.64.0" // quay.io/operator-framework/opm, which serves catalogs for OLM v0
	OPMImage          = "quay.io/operator-framework/opm:" + opm
	Distroless        = "debian12" // gcr.io/distroless/static-*, the base of the manager's image
)
