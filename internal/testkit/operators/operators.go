// Package operators has public operators that operon adopts in tests, at pinned versions: modules, which the go
// command downloads into its cache, and git repositories, whose folders may be modules of their own.
package operators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Operator is a module with an operator.
type Operator struct {
	Name    string
	Module  string   // path@version
	Git     string   // URL of a repository with the version as a tag; empty: the module has the folder
	Dir     string   // folder in the module or repository; empty: its root
	GoMod   string   // module path of a folder without go.mod, from the time before Go modules
	Args    []string // flags that adopt needs
	Refused string   // the start of adopt's error, if adopt refuses it
	InCI    bool     // CI adopts it: its module is in `make modules`
}

const (
	noManager   = "no program of this module creates a controller-runtime manager"
	kubebuilder = "https://github.com/kubernetes-sigs/kubebuilder"
	operatorSDK = "https://github.com/operator-framework/operator-sdk"
)

// All has a few operators of each historic form.
var All = []Operator{
	{Name: "lws", Module: "sigs.k8s.io/lws@v0.7.0", InCI: true},
	{Name: "jobset", Module: "sigs.k8s.io/jobset@v0.10.1"},
	{Name: "kueue", Module: "sigs.k8s.io/kueue@v0.15.0"},
	{Name: "cloudnative-pg", Module: "github.com/cloudnative-pg/cloudnative-pg@v1.28.0"},
	{Name: "mariadb-operator", Module: "github.com/mariadb-operator/mariadb-operator@v0.38.1"},
	{Name: "opentelemetry-operator", Module: "github.com/open-telemetry/opentelemetry-operator@v0.141.0"},
	{Name: "keda", Module: "github.com/kedacore/keda/v2@v2.17.0"},
	{Name: "training-operator", Module: "github.com/kubeflow/training-operator@v1.8.1", InCI: true},
	{Name: "zookeeper-operator", Module: "github.com/pravega/zookeeper-operator@v0.2.15", InCI: true},
	{Name: "kuberay", Module: "github.com/ray-project/kuberay/ray-operator@v1.4.0"},
	{Name: "cluster-api", Module: "sigs.k8s.io/cluster-api@v1.12.0", Git: "https://github.com/kubernetes-sigs/cluster-api"},
	{Name: "cluster-api-provider-aws", Module: "sigs.k8s.io/cluster-api-provider-aws/v2@v2.10.0"},
	{Name: "cluster-api-provider-azure", Module: "sigs.k8s.io/cluster-api-provider-azure@v1.21.0"},
	{Name: "cloud-on-k8s", Module: "github.com/elastic/cloud-on-k8s/v3@v3.2.0"},
	{Name: "kustomize-controller", Module: "github.com/fluxcd/kustomize-controller@v1.6.0", InCI: true},
	{Name: "kustomize-controller, whole repository", Module: "github.com/fluxcd/kustomize-controller@v1.6.0", Git: "https://github.com/fluxcd/kustomize-controller"},
	{Name: "gateway-api-inference-extension", Module: "sigs.k8s.io/gateway-api-inference-extension@v1.0.0"},
	{Name: "azure-service-operator", Module: "github.com/Azure/azure-service-operator/v2@v2.13.0"},
	{Name: "argo-rollouts", Module: "github.com/argoproj/argo-rollouts@v1.8.3", Refused: noManager},
	{Name: "postgres-operator", Module: "github.com/zalando/postgres-operator@v1.14.0", Refused: noManager},
	{Name: "redis-operator", Module: "github.com/spotahome/redis-operator@v1.2.4", Args: []string{"--main", "none"}},
	{Name: "prometheus-operator", Module: "github.com/prometheus-operator/prometheus-operator@v0.91.0", Refused: "no operator found", InCI: true},
	{Name: "approver-policy", Module: "github.com/cert-manager/approver-policy@v0.28.0"},
	{Name: "velero", Module: "github.com/vmware-tanzu/velero@v1.18.3"},
	{Name: "gatekeeper", Module: "github.com/open-policy-agent/gatekeeper/v3@v3.17.0"},
	{Name: "rabbitmq cluster-operator", Module: "github.com/rabbitmq/cluster-operator/v2@v2.16.0"},
	{Name: "kyverno", Module: "github.com/kyverno/kyverno@v1.19.1"},
	{Name: "envoy gateway", Module: "github.com/envoyproxy/gateway@v1.9.1"},
	{Name: "cass-operator", Module: "github.com/k8ssandra/cass-operator@v1.31.0"},
	{Name: "authorino-operator", Module: "github.com/kuadrant/authorino-operator@v0.26.0"},
	{Name: "limitador-operator", Module: "github.com/kuadrant/limitador-operator@v0.15.0"},
	{Name: "mpi-operator", Module: "github.com/kubeflow/mpi-operator@v0.7.0", Refused: noManager},
	{Name: "cloud-on-k8s of 2026", Module: "github.com/elastic/cloud-on-k8s/v3@v3.5.0"},
	{Name: "keda of 2026", Module: "github.com/kedacore/keda/v2@v2.21.0"},
	{Name: "grafana-operator", Module: "github.com/grafana/grafana-operator/v5@v5.18.0"},
	{Name: "vault-secrets-operator", Module: "github.com/hashicorp/vault-secrets-operator@v0.10.0"},
	{Name: "jaeger-operator", Module: "github.com/jaegertracing/jaeger-operator@v1.65.0"},
	{Name: "solr-operator", Module: "github.com/apache/solr-operator@v0.9.1"},
	{Name: "actions-runner-controller", Module: "github.com/actions/actions-runner-controller@v0.27.6"},
	{Name: "gpu-operator", Module: "github.com/NVIDIA/gpu-operator@v1.11.1"},
	{Name: "node-feature-discovery", Module: "sigs.k8s.io/node-feature-discovery@v0.17.0", Refused: "no operator found"},
	{Name: "crossplane", Module: "github.com/crossplane/crossplane@v1.20.0"},
	{Name: "kubebuilder v1 test project", Module: "sigs.k8s.io/kubebuilder@v1.0.8",
		Dir: "test/project", GoMod: "sigs.k8s.io/kubebuilder/test/project"},
	{Name: "kubebuilder v1 book", Module: "sigs.k8s.io/kubebuilder/v2@v2.3.2", Dir: "docs/book/src/migration/testdata/gopath/project-v1", GoMod: "project"},
	{Name: "kubebuilder project-v2", Module: "sigs.k8s.io/kubebuilder/v3@v3.15.1", Git: kubebuilder, Dir: "testdata/project-v2"},
	{Name: "kubebuilder project-v2-multigroup", Module: "sigs.k8s.io/kubebuilder/v3@v3.0.0",
		Git: kubebuilder, Dir: "testdata/project-v2-multigroup"},
	{Name: "kubebuilder project-v3", Module: "sigs.k8s.io/kubebuilder/v3@v3.15.1", Git: kubebuilder, Dir: "testdata/project-v3"},
	{Name: "kubebuilder project-v3-config", Module: "sigs.k8s.io/kubebuilder/v3@v3.5.0", Git: kubebuilder, Dir: "testdata/project-v3-config"},
	{Name: "kubebuilder project-v3-multigroup", Module: "sigs.k8s.io/kubebuilder/v3@v3.9.0",
		Git: kubebuilder, Dir: "testdata/project-v3-multigroup"},
	{Name: "kubebuilder project-v4 of 2024", Module: "sigs.k8s.io/kubebuilder/v4@v4.0.0", Git: kubebuilder, Dir: "testdata/project-v4"},
	{Name: "kubebuilder project-v4", Module: "sigs.k8s.io/kubebuilder/v4@v4.15.0", Git: kubebuilder, Dir: "testdata/project-v4"},
	{Name: "kubebuilder project-v4-multigroup", Module: "sigs.k8s.io/kubebuilder/v4@v4.15.0",
		Git: kubebuilder, Dir: "testdata/project-v4-multigroup"},
	{Name: "kubebuilder project-v4-with-plugins", Module: "sigs.k8s.io/kubebuilder/v4@v4.15.0",
		Git: kubebuilder, Dir: "testdata/project-v4-with-plugins"},
	{Name: "operator-sdk go/v2 memcached", Module: "github.com/operator-framework/operator-sdk@v1.15.0", Git: operatorSDK, Dir: "testdata/go/v2/memcached-operator"},
	{Name: "operator-sdk go/v3 memcached", Module: "github.com/operator-framework/operator-sdk@v1.30.0", Git: operatorSDK, Dir: "testdata/go/v3/memcached-operator"},
	{Name: "operator-sdk go/v4 memcached", Module: "github.com/operator-framework/operator-sdk@v1.42.3", Git: operatorSDK, Dir: "testdata/go/v4/memcached-operator"},
	{Name: "operator-sdk go/v4 monitoring", Module: "github.com/operator-framework/operator-sdk@v1.42.3", Git: operatorSDK, Dir: "testdata/go/v4/monitoring/memcached-operator"},
}

// Copy copies the operator into the folder to, where it is committed to a git repository.
func (o Operator) Copy(ctx context.Context, to string) error {
	temp, err := os.MkdirTemp("", "operon-clone-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	from := temp
	if o.Git != "" {
		_, version, _ := strings.Cut(o.Module, "@")
		err = git(ctx, temp, "-c", "advice.detachedHead=false", "clone", "-q", "--depth", "1", "--branch", version, o.Git, ".")
	} else {
		from, err = o.download(ctx)
	}
	if err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(filepath.Join(from, o.Dir))); err != nil {
		return err
	}
	for _, folder := range []string{".git", "vendor"} { // modules have no vendored packages, but the list of them
		if err := os.RemoveAll(filepath.Join(to, folder)); err != nil {
			return err
		}
	}
	if o.GoMod != "" {
		if err := os.WriteFile(filepath.Join(to, "go.mod"), []byte("module "+o.GoMod+"\n"), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A", "--force"},
		{"-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "-qm", o.Module},
	} {
		if err := git(ctx, to, args...); err != nil {
			return err
		}
	}
	return nil
}

// download returns the folder of the module in the module cache.
func (o Operator) download(ctx context.Context) (dir string, err error) {
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", o.Module).Output()
	var answer struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &answer); answer.Error != "" {
		return "", errors.New(answer.Error)
	} else if err = errors.Join(err, jsonErr); err != nil {
		return "", fmt.Errorf("go mod download %s: %w", o.Module, err)
	}
	return answer.Dir, nil
}

func git(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Changed returns the paths that differ from the commit of Copy: new and changed ones. A new folder is one path,
// which ends with a slash.
func Changed(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "git", "status", "--porcelain", "-z")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git status: %w", err)
	}
	var names []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if len(entry) > len("XY ") {
			names = append(names, entry[len("XY "):])
		}
	}
	slices.Sort(names)
	return names, nil
}

// Lost returns the lines that files had in the commit of Copy and have no longer, as file: line. The order of lines
// does not matter, and neither do the comment "indirect" of a requirement that became a direct one, and the comment sign
// before an entry of a kustomization that a command enables.
func Lost(ctx context.Context, dir string, files []string) ([]string, error) {
	var lost []string
	for _, name := range files {
		cmd := exec.CommandContext(ctx, "git", "show", "HEAD:./"+name)
		cmd.Dir = dir
		before, err := cmd.Output()
		if err != nil {
			continue // a new file
		}
		after, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		same := func(line string) string { return strings.TrimSuffix(line, " // indirect") }
		count := map[string]int{}
		for line := range strings.SplitSeq(string(after), "\n") {
			count[same(line)]++
		}
		for line := range strings.SplitSeq(string(before), "\n") {
			if enabled := strings.TrimPrefix(line, "#"); count[line] == 0 && enabled != line && count[enabled] > 0 {
				line = enabled
			}
			if count[same(line)]--; count[same(line)] < 0 {
				lost = append(lost, name+": "+line)
			}
		}
	}
	return lost, nil
}
