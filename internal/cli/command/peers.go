package command

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/spf13/cobra"
)

// The programs whose commands users try.
const (
	kubebuilder = "kubebuilder"
	operatorSDK = "operator-sdk"
	opm         = "opm"
	helm        = "helm"
	setupEnv    = "setup-envtest"
)

// Hints for what operon does not have.
const (
	hintUpgrade    = "repeat operon init: a newer operon merges what changed in its templates with your changes"
	hintReadBundle = "remove the flag: operon reads the bundle on this machine, with its certificate authorities"
	hintSkipTLS    = "use --skip-tls-verify, or --plain-http"
	hintWebhook    = "use operon create webhook, which has the flag"
	hintK8sVersion = "use --k8s-version"
	hintSpecs      = "set ENVTEST_K8S_VERSION, such as ENVTEST_K8S_VERSION=1.36"
	hintChart      = "use operon edit --plugins helm, which has the flag"
	hintManifests  = "name the manifests of the version: a folder, a file or a URL"
	hintAnsible    = "operon has operators in Go, in shell and based on Helm; operator-sdk v1.42 also has those based on Ansible"
)

// peerCommand is a command that operon does not have, and what to do instead of it.
type peerCommand struct {
	program string // that has the command, or ""
	hint    string
}

// peerCommands are commands that users of other programs and of Makefiles try (docs/kubebuilder.md,
// docs/operator-sdk.md).
var peerCommands = map[string]peerCommand{
	"bundle build":   {"", "use make bundle-build, or operon bundle image, which needs no Docker"},
	"bundle push":    {"", "use make bundle-push, or operon bundle image --push, which needs no Docker"},
	"catalog build":  {"", "use make catalog-build, or operon catalog image, which needs no Docker"},
	"catalog push":   {"", "use make catalog-push, or operon catalog image --push, which needs no Docker"},
	"catalog serve":  {opm, "use opm serve; operon run bundle --local serves a catalog for one bundle"},
	"catalog remove": {"", "remove the documents of the bundle, and its entry in the channels, from the files of the catalog"},

	"chart lint":      {helm, "use operon chart validate, which renders the chart with many sets of values"},
	"chart template":  {helm, "use helm template, or operon chart validate, which renders the chart with many sets of values"},
	"chart package":   {helm, "use helm package"},
	"envtest use":     {setupEnv, "use operon envtest path --download, or --build"},
	"kustomize edit":  {"kustomize", "edit the file; operon installer --image sets the image in dist/install.yaml"},
	"create resource": {"", "use operon create api"},

	"create controller":        {"", "use operon create api --resource=false, with --controller-name for one more controller"},
	"alpha":                    {kubebuilder, hintUpgrade},
	"alpha update":             {kubebuilder, hintUpgrade},
	"alpha generate":           {kubebuilder, "use operon init --from FOLDER in an empty folder"},
	"alpha config-3alpha-to-3": {operatorSDK, "use operon edit --project-version 3"},
	"generate bundle":          {operatorSDK, "use operon bundle generate"},
	"generate kustomize":       {operatorSDK, "use operon bundle generate, which reads the markers of API types itself"},
	"generate packagemanifests": {operatorSDK, "use operon bundle generate: OLM replaced the format with bundles; " +
		"operon pkgman-to-bundle converts old versions"},
	"index":                {opm, "use operon catalog: OLM replaced indexes with file-based catalogs"},
	"opm":                  {"", "use operon catalog, which needs no opm"},
	"registry":             {opm, "use operon catalog: OLM replaced databases with file-based catalogs"},
	"run packagemanifests": {operatorSDK, "convert them with operon pkgman-to-bundle: OLM replaced the format with bundles"},
	"run pm":               {operatorSDK, "convert them with operon pkgman-to-bundle: OLM replaced the format with bundles"},
}

// PeerCommand returns an error that says what to do instead if a command with these arguments
// is one of another program, and nil otherwise.
func PeerCommand(cmd *cobra.Command, args []string) error {
	words := slices.Concat(strings.Fields(cmd.CommandPath())[1:], args)
	for n := min(len(words), 2); n > 0; n-- {
		line := strings.Join(words[:n], " ")
		peer, ok := peerCommands[line]
		switch {
		case ok && peer.program == "":
			return fault.Usage(peer.hint, "operon has no command %s", line)
		case ok:
			return fault.Usage(peer.hint, "%s is a command of %s", line, peer.program)
		}
	}
	return nil
}

// peerFlags maps flags that only other programs have to hints. A key is a flag of one command
// or of all.
var peerFlags = map[string]string{
	"plugins":       "remove the flag: the layout in PROJECT defines the plugins",
	"legacy":        "remove the flag: webhooks are in internal/webhook; kubebuilder v4.16 removed webhooks in the API package",
	"use-gh-models": "remove the flag: GitHub ended GitHub Models, so kubebuilder v4.16 has no such flag",

	"verbose": "remove the flag: operon prints what it does, and errors with a hint",

	"crd-version":       hintAnsible,
	"generate-playbook": hintAnsible,
	"generate-role":     hintAnsible,

	"create api conversion":              hintWebhook,
	"create api defaulting":              hintWebhook,
	"create api programmatic-validation": hintWebhook,
	"create api webhook":                 "use operon create webhook",
	"create webhook controller":          "use operon create api",
	"create webhook resource":            "use operon create api",
	"create webhook validation":          "use --programmatic-validation",
	"init image":                         "use operon create api --image",
	"init input-dir":                     "use --from",
	"init output-dir":                    "run the command in that folder",
	"edit ssa":                           "use operon create api --ssa, for a kind that exists with --force",
	"chart generate manifests":           hintChart,
	"chart generate output-dir":          hintChart,
	"chart validate set":                 "write the values to a file, and name it with --values",
	"envtest build version":              hintK8sVersion,
	"envtest path bin-dir":               "remove the flag: the programs are in the user's cache folder",
	"envtest path version":               hintK8sVersion,
	"envtest start version":              hintK8sVersion,
	"installer img":                      "use --image",
	"kustomize build enable-helm":        "remove the flag: operon runs no programs",
	"test cluster":                       "remove the flag: all tests run on an API server",
	"test k8s-version":                   hintSpecs,
	"test version":                       hintSpecs,

	"bundle generate crds-dir":          "use --kustomize-dir: a kustomization can list any manifests",
	"bundle generate deploy-dir":        "use --kustomize-dir: a kustomization can list any manifests",
	"bundle generate input-dir":         "use --kustomize-dir",
	"bundle generate manifests":         "remove the flag: manifests and metadata belong together",
	"bundle generate metadata":          "remove the flag: manifests and metadata belong together",
	"bundle generate stdout":            "use --diff, or read the files in the folder of the bundle",
	"bundle generate v":                 "use --version",
	"bundle validate b":                 "remove the flag: operon pulls images itself",
	"bundle validate image-builder":     "remove the flag: operon pulls images itself",
	"pkgman-to-bundle build-cmd":        "remove the flag: with --image-tag-base, operon builds the images itself",
	"run bundle ca-secret-name":         hintReadBundle,
	"run bundle decompression-image":    "remove the flag: the catalog is not compressed",
	"run bundle skip-tls":               hintSkipTLS,
	"run bundle-upgrade ca-secret-name": hintReadBundle,
	"run bundle-upgrade skip-tls":       hintSkipTLS,
	"olm install version":               hintManifests,
	"olm uninstall version":             hintManifests,
	"olm uninstall olm-namespace":       "remove the flag: the manifests name the namespace",
	"olm status olm-namespace":          "remove the flag: the status has all namespaces",
	"olm status timeout":                "remove the flag: the command does not wait",
	"olm status version":                "remove the flag: the status does not depend on the version",
}

// PeerFlag returns the hint for a flag of another program or command, or "".
func PeerFlag(cmd *cobra.Command, name string) string {
	command := strings.Join(strings.Fields(cmd.CommandPath())[1:], " ")
	if hint := peerFlags[command+" "+name]; hint != "" {
		return hint
	}
	return peerFlags[name]
}
