package controller

// Helpers for specs about the events that trigger a controller. Delete this file when no test
// in this package calls runController.

import (
	"context"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.org/memcached/test/utils"
)

// runController runs the controller that setUp adds to a manager until the spec
// ends. The client of the controller counts its reads.
func runController(setUp func(ctrl.Manager, client.Client) error) *countingClient {
	GinkgoHelper()
	anyName := true // so that other specs in this process can start the controller too
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:     k8sClient.Scheme(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &anyName},
	})
	Expect(err).NotTo(HaveOccurred())
	counting := &countingClient{Client: mgr.GetClient(), counts: map[string]int{}}
	Expect(setUp(mgr, counting)).To(Succeed())
	running, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(running) }()
	DeferCleanup(func() {
		stop()
		Eventually(stopped).WithTimeout(time.Minute).Should(Receive(BeNil()))
	})
	return counting
}

// countingClient counts how often each object is read, because Reconcile starts by
// reading its object. Reads into an object that already has a name do not count:
// they only check its state.
type countingClient struct {
	client.Client
	mu     sync.Mutex
	counts map[string]int
}

// Get implements client.Reader.
func (c *countingClient) Get(
	ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption,
) error {
	if obj.GetName() == "" {
		c.mu.Lock()
		c.counts[fmt.Sprintf("%T %s", obj, key)]++
		c.mu.Unlock()
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

// reads returns how often an object of that type and name was read.
func (c *countingClient) reads(obj client.Object) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[fmt.Sprintf("%T %s", obj, client.ObjectKeyFromObject(obj))]
}

// settled waits until obj was read and no more reads follow, and returns the number
// of reads.
func (c *countingClient) settled(obj client.Object) int {
	GinkgoHelper()
	last := 0
	Eventually(func() bool {
		before := last
		last = c.reads(obj)
		return last > 0 && last == before
	}).WithTimeout(time.Minute).WithPolling(500*time.Millisecond).Should(BeTrue(), func() string {
		if last == 0 {
			return fmt.Sprintf("Reconcile did not run for %s", obj.GetName())
		}
		return fmt.Sprintf("Reconcile does not settle: it ran %d times for %s", last, obj.GetName())
	})
	return last
}

// readsMore waits until the number of reads of obj exceeds before.
func (c *countingClient) readsMore(obj client.Object, before int) {
	GinkgoHelper()
	Eventually(func() int { return c.reads(obj) }).
		WithTimeout(time.Minute).WithPolling(100*time.Millisecond).
		Should(BeNumerically(">", before), "Reconcile did not run again for %s", obj.GetName())
}

// readSample reads the object in a file into obj. The path is relative to the root of
// the project. The namespace becomes "default", which always exists. (Cluster-scoped
// kinds ignore it.)
func readSample(name string, obj client.Object) error {
	if err := utils.ReadSampleAs(name, obj); err != nil {
		return err
	}
	obj.SetNamespace(metav1.NamespaceDefault)
	return nil
}

// placeSample reads a sample for creation on the API server, and deletes the created
// object when the spec ends.
func placeSample(name string, obj client.Object) {
	GinkgoHelper()
	Expect(readSample(name, obj)).To(Succeed())
	namespaced, err := k8sClient.IsObjectNamespaced(obj)
	Expect(err).NotTo(HaveOccurred())
	if !namespaced {
		obj.SetNamespace("")
	}
	DeferCleanup(func() { Expect(utils.Remove(ctx, k8sClient, obj)).To(Succeed()) })
}

// createSample creates the object in a file on the API server, with strict validation of
// its fields, and reads it into obj. It reports an error in one line; a matcher would print
// the whole response.
func createSample(name string, obj client.Object) {
	GinkgoHelper()
	placeSample(name, obj)
	sample, err := utils.ReadSample(name) // as in the file: obj has zero values of missing fields
	Expect(err).NotTo(HaveOccurred())
	sample.SetNamespace(obj.GetNamespace())
	if err := k8sClient.Create(ctx, sample, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
		Fail(name + ": " + err.Error())
	}
	Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(sample), obj)).To(Succeed())
}

// touch changes obj on the API server without any effect on its meaning.
func touch(obj client.Object) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":%q}}}`, time.Now().Format(time.RFC3339Nano))
	Expect(k8sClient.Patch(ctx, obj, client.RawPatch("application/merge-patch+json", patch))).To(Succeed())
}
