package generatecmd

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/pins"
)

// TestControlPlane checks that the version of the project's client is preferred, and that an older
// client gets the control plane that operon builds.
func TestControlPlane(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		client    string // version of client-go
		wanted    string // ENVTEST_K8S_VERSION
		installed []string
		want      string // "": none
	}{
		"the same version":    {client: "v0.29.2", installed: []string{"1.29.5", pins.Kubernetes}, want: "1.29.5"},
		"an older client":     {client: "v0.29.2", installed: []string{"1.30.0", pins.Kubernetes}, want: pins.Kubernetes},
		"nothing fits":        {client: "v0.29.2", installed: []string{"1.30.0"}},
		"a newer client":      {client: "v0.99.0", installed: []string{pins.Kubernetes}},
		"the wanted version":  {client: "v0.37.0", wanted: "1.29", installed: []string{"1.29.5", pins.Kubernetes}, want: "1.29.5"},
		"not the wanted one":  {client: "v0.29.2", wanted: "1.29", installed: []string{pins.Kubernetes}},
		"a project of operon": {client: pins.KubernetesAPI, installed: []string{pins.Kubernetes}, want: pins.Kubernetes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write := func(name, content string, mode os.FileMode) string {
				name = filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(content), mode); err != nil {
					t.Fatal(err)
				}
				return filepath.Dir(name)
			}
			write("go.mod", "module example.org/fleet\n\nrequire k8s.io/client-go "+test.client+"\n", 0o644)
			folders := map[string]string{}
			for _, version := range test.installed {
				for _, program := range []string{"etcd", "kube-apiserver", "kubectl"} {
					if runtime.GOOS == "windows" {
						program += ".exe"
					}
					folders[version] = write("bin/k8s/"+version+"-"+runtime.GOOS+"-"+runtime.GOARCH+"/"+program, "#!/bin/sh\n", 0o755)
				}
			}
			a := &command.App{Environ: []string{"HOME=" + filepath.Join(root, "home"), "LocalAppData=" + filepath.Join(root, "home"), "ENVTEST_K8S_VERSION=" + test.wanted}}
			env, missing, err := controlPlane(t.Context(), a, root, false)
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" {
				if missing == nil {
					t.Errorf("found a control plane: %v", env)
				}
				return
			}
			if want := "KUBEBUILDER_ASSETS=" + folders[test.want]; missing != nil || !slices.Contains(env, want) {
				t.Errorf("missing %v, the environment lacks %s: %v", missing, want, env)
			}
		})
	}
}
