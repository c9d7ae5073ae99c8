package sea

import (
	"context"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	seav1beta1 "example.org/fleet/api/sea/v1beta1"
	"example.org/fleet/test/utils"
	// +kubebuilder:scaffold:imports
)

// The specs of this package share an API server without nodes, and a client for it.
var (
	ctx       context.Context
	cancel    context.CancelFunc
	testEnv   *envtest.Environment
	cfg       *rest.Config
	k8sClient client.Client
)

// TestControllers runs the specs. It skips them if no API server is installed; the
// other tests of this package do not need one.
func TestControllers(t *testing.T) {
	if _, err := utils.EnvtestAssets(); err != nil {
		t.Skipf("the specs on a real API server are skipped: %v", err)
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "Controller Suite")
}

var _ = BeforeSuite(func() {
	var err error
	logf.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	ctx, cancel = context.WithCancel(context.Background())

	err = seav1beta1.AddToScheme(scheme.Scheme)
	Expect(err).NotTo(HaveOccurred())
	// +kubebuilder:scaffold:scheme

	By("starting the API server")
	assets, err := utils.EnvtestAssets()
	Expect(err).NotTo(HaveOccurred())
	testEnv = &envtest.Environment{
		// A project without its own kinds has no CRDs. If CRDs are not generated yet,
		// the specs fail with "no matches for kind".
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "..", "config", "crd", "bases")},
		BinaryAssetsDirectory: assets,
	}
	cfg, err = testEnv.Start()
	Expect(err).NotTo(HaveOccurred())

	k8sClient, err = client.New(cfg, client.Options{Scheme: scheme.Scheme})
	Expect(err).NotTo(HaveOccurred())
})

var _ = AfterSuite(func() {
	By("stopping the API server")
	cancel()
	Expect(testEnv.Stop()).To(Succeed())
})
