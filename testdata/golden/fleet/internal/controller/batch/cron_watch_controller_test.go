package batch

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.org/fleet/test/utils"
	batchv1 "k8s.io/api/batch/v1"
)

// cronWatchSample is the object that the tests use.
const cronWatchSample = "test/objects/batch_v1_cronjob.yaml"

// These tests use an in-memory client and need no API server.

func TestCronWatchReconcilerIgnoresMissingObject(t *testing.T) {
	r, obj := newCronWatchReconciler(t, interceptor.Funcs{})
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestCronWatchReconcilerReportsErrors(t *testing.T) {
	unavailable := errors.New("the API server is unavailable")
	r, obj := newCronWatchReconciler(t, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return unavailable
		},
	})
	_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
	if !errors.Is(err, unavailable) {
		t.Errorf("got the error %v, want %v: without it there is no retry", err, unavailable)
	}
}

func TestCronWatchReconcilerSettles(t *testing.T) {
	r, obj := newCronWatchReconciler(t, interceptor.Funcs{})
	key := client.ObjectKeyFromObject(obj)
	var versions [2]string
	for i := range versions {
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		if err := r.Get(t.Context(), key, obj); err != nil {
			t.Fatal(err)
		}
		versions[i] = obj.ResourceVersion
	}
	if versions[0] != versions[1] {
		t.Errorf("the second reconciliation changed the object: resource version %s became %s", versions[0], versions[1])
	}
}

// cronWatchReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func cronWatchReconcilerWith(c client.Client) *CronWatchReconciler {
	return &CronWatchReconciler{Client: c, Scheme: c.Scheme()}
}

// newCronWatchReconciler returns a reconciler whose client stores the sample in the
// namespace default, and the stored sample.
func newCronWatchReconciler(t *testing.T, calls interceptor.Funcs) (*CronWatchReconciler, *batchv1.CronJob) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	obj := &batchv1.CronJob{}
	if err := utils.ReadSampleAs(cronWatchSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithInterceptorFuncs(calls).Build()
	return cronWatchReconcilerWith(c), obj
}

// This spec runs the controller against a real API server.

var _ = Describe("cron-watch controller", func() {
	It("reconciles a CronJob", func() {
		By("starting a manager with the controller")
		anyName := true // so that other specs in this process can start the controller too
		mgr, err := ctrl.NewManager(cfg, ctrl.Options{
			Scheme:     k8sClient.Scheme(),
			Metrics:    metricsserver.Options{BindAddress: "0"},
			Controller: config.Controller{SkipNameValidation: &anyName},
		})
		Expect(err).NotTo(HaveOccurred())
		reads := &cronWatchReads{Client: mgr.GetClient()}
		Expect(cronWatchReconcilerWith(reads).SetupWithManager(mgr)).To(Succeed())
		running, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- mgr.Start(running) }()
		DeferCleanup(func() {
			stop()
			Eventually(stopped).WithTimeout(time.Minute).Should(Receive(BeNil()))
		})

		By("creating the sample with strict field validation")
		sample, err := utils.ReadSample(cronWatchSample)
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}
		err = k8sClient.Create(ctx, sample, client.FieldValidation(metav1.FieldValidationStrict))
		if err != nil { // one line; a matcher would print the whole response
			Fail(cronWatchSample + ": " + err.Error())
		}
		DeferCleanup(func() { Expect(utils.Remove(ctx, k8sClient, sample)).To(Succeed()) })

		By("waiting for the controller to read the sample")
		key := client.ObjectKeyFromObject(sample)
		Eventually(func() bool { return reads.found(key) }).WithTimeout(time.Minute).
			Should(BeTrue(), "Reconcile never read %s", key)
	})
})

// cronWatchReads is a client that records which CronJob objects it reads.
type cronWatchReads struct {
	client.Client
	keys sync.Map
}

// Get implements client.Reader.
func (c *cronWatchReads) Get(
	ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption,
) error {
	err := c.Client.Get(ctx, key, obj, opts...)
	if _, ok := obj.(*batchv1.CronJob); ok && err == nil {
		c.keys.Store(key, true)
	}
	return err
}

func (c *cronWatchReads) found(key client.ObjectKey) bool {
	_, ok := c.keys.Load(key)
	return ok
}
