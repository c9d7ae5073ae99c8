package v1

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"example.org/fleet/test/utils"
	// +kubebuilder:scaffold:imports
)

// The specs of this package share an API server without nodes, which calls the
// webhooks of a manager in this process, and a client for it.
var (
	ctx       context.Context
	cancel    context.CancelFunc
	testEnv   *envtest.Environment
	cfg       *rest.Config
	k8sClient client.Client
)

// TestWebhooks runs the specs. It skips them if no API server is installed; the other
// tests of this package do not need one.
func TestWebhooks(t *testing.T) {
	if _, err := utils.EnvtestAssets(); err != nil {
		t.Skipf("the specs on a real API server are skipped: %v", err)
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "Webhook Suite")
}

var _ = BeforeSuite(func() {
	var err error
	logf.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	ctx, cancel = context.WithCancel(context.Background())

	// +kubebuilder:scaffold:scheme

	By("starting the API server")
	assets, err := utils.EnvtestAssets()
	Expect(err).NotTo(HaveOccurred())
	testEnv = &envtest.Environment{
		CRDDirectoryPaths: []string{
			filepath.Join("..", "..", "..", "..", "config", "crd", "bases"),
			filepath.Join("..", "..", "..", "..", "test", "crd"), // CRDs of external types
		},
		ErrorIfCRDPathMissing: false, // both are optional
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths:                    []string{filepath.Join("..", "..", "..", "..", "config", "webhook", "manifests.yaml")},
			IgnoreErrorIfPathMissing: true, // missing if all webhooks are conversions
		},
		BinaryAssetsDirectory: assets,
	}
	cfg, err = testEnv.Start()
	Expect(err).NotTo(HaveOccurred())

	k8sClient, err = client.New(cfg, client.Options{Scheme: scheme.Scheme})
	Expect(err).NotTo(HaveOccurred())

	By("starting a manager that serves the webhooks")
	// One file has the webhooks of all packages. Those of other packages are installed
	// too, and allow every request.
	others := http.NewServeMux()
	others.Handle("/", &admission.Webhook{Handler: admission.HandlerFunc(
		func(context.Context, admission.Request) admission.Response { return admission.Allowed("") })})
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:  scheme.Scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host:       testEnv.WebhookInstallOptions.LocalServingHost,
			Port:       testEnv.WebhookInstallOptions.LocalServingPort,
			CertDir:    testEnv.WebhookInstallOptions.LocalServingCertDir,
			WebhookMux: others,
		}),
	})
	Expect(err).NotTo(HaveOccurred())

	err = SetupPodWebhookWithManager(mgr)
	Expect(err).NotTo(HaveOccurred())
	// +kubebuilder:scaffold:webhook

	go func() {
		defer GinkgoRecover()
		Expect(mgr.Start(ctx)).To(Succeed())
	}()
	Eventually(func() error {
		return mgr.GetWebhookServer().StartedChecker()(nil)
	}).WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(Succeed())
})

var _ = AfterSuite(func() {
	By("stopping the manager and the API server")
	cancel()
	Expect(testEnv.Stop()).To(Succeed())
})
