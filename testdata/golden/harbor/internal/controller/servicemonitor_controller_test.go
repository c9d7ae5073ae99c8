/*
Copyright 2026.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controller

import (
	"context"
	"errors"
	"path/filepath"
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
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.org/harbor/test/utils"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
)

// servicemonitorSample is the object that the tests use.
const servicemonitorSample = "test/objects/monitoring_v1_servicemonitor.yaml"

// These tests use an in-memory client and need no API server.

func TestServiceMonitorReconcilerIgnoresMissingObject(t *testing.T) {
	r, obj := newServiceMonitorReconciler(t, interceptor.Funcs{})
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)}); err != nil {
		t.Errorf("reconciling a deleted object: %v", err)
	}
}

func TestServiceMonitorReconcilerReportsErrors(t *testing.T) {
	unavailable := errors.New("the API server is unavailable")
	r, obj := newServiceMonitorReconciler(t, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return unavailable
		},
	})
	_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
	if !errors.Is(err, unavailable) {
		t.Errorf("got the error %v, want %v: without it there is no retry", err, unavailable)
	}
}

func TestServiceMonitorReconcilerSettles(t *testing.T) {
	r, obj := newServiceMonitorReconciler(t, interceptor.Funcs{})
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

// servicemonitorReconcilerWith returns the reconciler under test, which uses the client c. Set
// other fields that your reconciler needs here.
func servicemonitorReconcilerWith(c client.Client) *ServiceMonitorReconciler {
	return &ServiceMonitorReconciler{Client: c, Scheme: c.Scheme()}
}

// newServiceMonitorReconciler returns a reconciler whose client stores the sample in the
// namespace default, and the stored sample.
func newServiceMonitorReconciler(t *testing.T, calls interceptor.Funcs) (*ServiceMonitorReconciler, *monitoringv1.ServiceMonitor) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, monitoringv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	obj := &monitoringv1.ServiceMonitor{}
	if err := utils.ReadSampleAs(servicemonitorSample, obj); err != nil {
		t.Fatal(err)
	}
	obj.Namespace = metav1.NamespaceDefault
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(obj).WithInterceptorFuncs(calls).Build()
	return servicemonitorReconcilerWith(c), obj
}

// This spec runs the controller against a real API server.

var _ = Describe("ServiceMonitor controller", func() {
	It("reconciles a ServiceMonitor", func() {
		By("installing the CRD")
		_, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{Paths: []string{filepath.Join("..", "..", "test", "crd", "monitoring.coreos.com_servicemonitors.yaml")}})
		Expect(err).NotTo(HaveOccurred())

		By("starting a manager with the controller")
		anyName := true // so that other specs in this process can start the controller too
		mgr, err := ctrl.NewManager(cfg, ctrl.Options{
			Scheme:     k8sClient.Scheme(),
			Metrics:    metricsserver.Options{BindAddress: "0"},
			Controller: config.Controller{SkipNameValidation: &anyName},
		})
		Expect(err).NotTo(HaveOccurred())
		reads := &servicemonitorReads{Client: mgr.GetClient()}
		Expect(servicemonitorReconcilerWith(reads).SetupWithManager(mgr)).To(Succeed())
		running, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- mgr.Start(running) }()
		DeferCleanup(func() {
			stop()
			Eventually(stopped).WithTimeout(time.Minute).Should(Receive(BeNil()))
		})

		By("creating the sample with strict field validation")
		sample, err := utils.ReadSample(servicemonitorSample)
		Expect(err).NotTo(HaveOccurred())
		namespaced, err := k8sClient.IsObjectNamespaced(sample)
		Expect(err).NotTo(HaveOccurred())
		if namespaced {
			sample.SetNamespace(metav1.NamespaceDefault)
		}
		err = k8sClient.Create(ctx, sample, client.FieldValidation(metav1.FieldValidationStrict))
		if err != nil { // one line; a matcher would print the whole response
			Fail(servicemonitorSample + ": " + err.Error())
		}
		DeferCleanup(func() { Expect(utils.Remove(ctx, k8sClient, sample)).To(Succeed()) })

		By("waiting for the controller to read the sample")
		key := client.ObjectKeyFromObject(sample)
		Eventually(func() bool { return reads.found(key) }).WithTimeout(time.Minute).
			Should(BeTrue(), "Reconcile never read %s", key)
	})
})

// servicemonitorReads is a client that records which ServiceMonitor objects it reads.
type servicemonitorReads struct {
	client.Client
	keys sync.Map
}

// Get implements client.Reader.
func (c *servicemonitorReads) Get(
	ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption,
) error {
	err := c.Client.Get(ctx, key, obj, opts...)
	if _, ok := obj.(*monitoringv1.ServiceMonitor); ok && err == nil {
		c.keys.Store(key, true)
	}
	return err
}

func (c *servicemonitorReads) found(key client.ObjectKey) bool {
	_, ok := c.keys.Load(key)
	return ok
}
