package controller

import (
	"errors"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	systeknov1 "github.com/systek/s3-operator/api/v1"
	"github.com/systek/s3-operator/internal/cloud"
	"github.com/systek/s3-operator/internal/cloud/cloudtest"
)

// lifeOfBucket are the requests that change something while a bucket exists.
var lifeOfBucket = []string{
	"put bucket sample-bucket", "put user sample-bucket", "delete user sample-bucket", "delete bucket sample-bucket",
}

func TestS3ReconcilerAnswersAsTheCloudDoes(t *testing.T) {
	outage := errors.New("out of order")
	for name, test := range map[string]struct {
		err      error
		pending  bool
		want     ctrl.Result
		fails    bool
		terminal bool
		reason   string // of the condition Ready
	}{
		"done":          {reason: "Reconciled"},
		"error":         {err: outage, fails: true, reason: "ReconcileFailed"},
		"refused":       {err: cloud.ErrRefused, fails: true, terminal: true, reason: "ReconcileFailed"},
		"requeue":       {err: cloud.ErrBusy, want: ctrl.Result{Requeue: true}, reason: "CloudBusy"}, //nolint:staticcheck // as ensureBucket says
		"requeue after": {pending: true, want: ctrl.Result{RequeueAfter: pollInterval}, reason: "BucketPending"},
	} {
		t.Run(name, func(t *testing.T) {
			r, req := newS3Reconciler(t)
			account := cloudtest.NewAccount()
			account.Fail(test.err)
			account.Delay(test.pending)
			r.Cloud = account
			got, err := r.Reconcile(t.Context(), req)
			if got != test.want || (err != nil) != test.fails || errors.Is(err, reconcile.TerminalError(nil)) != test.terminal {
				t.Errorf("got %+v, error %v", got, err)
			}
			ready := meta.FindStatusCondition(s3In(t, r, req).Status.Conditions, "Ready")
			if ready == nil || ready.Reason != test.reason || (ready.Status == metav1.ConditionTrue) != (name == "done") {
				t.Errorf("condition Ready is %+v, want the reason %s", ready, test.reason)
			}
		})
	}
}

func TestBucketGoesAfterSecret(t *testing.T) {
	r, req := newS3Reconciler(t)
	account := cloudtest.NewAccount()
	r.Cloud = account
	secrets := secretReconcilerWith(r.Client)
	secrets.Cloud = account
	s3, secret := s3In(t, r, req), &corev1.Secret{}
	reconcileBoth := func() ctrl.Result {
		t.Helper()
		result, err := r.Reconcile(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := secrets.Reconcile(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		return result
	}
	reconcileBoth()
	if err := r.Get(t.Context(), req.NamespacedName, secret); err != nil {
		t.Fatal(err)
	}
	if !metav1.IsControlledBy(secret, s3) || string(secret.Data[accessKeyID]) != "key-sample-bucket" {
		t.Errorf("the Secret is %+v", secret)
	}

	if err := r.Delete(t.Context(), s3); err != nil {
		t.Fatal(err)
	}
	if result := reconcileBoth(); result.RequeueAfter == 0 {
		t.Error("nobody looks whether the Secret is gone")
	}
	if writes := account.Writes(); !slices.Equal(writes, lifeOfBucket[:3]) {
		t.Errorf("before the Secret is gone the cloud saw %q", writes)
	}
	reconcileBoth()
	if writes := account.Writes(); !slices.Equal(writes, lifeOfBucket) {
		t.Errorf("in the end the cloud saw %q, want %q", writes, lifeOfBucket)
	}
	if err := r.Get(t.Context(), req.NamespacedName, s3); !apierrors.IsNotFound(err) {
		t.Errorf("the object outlives its bucket: %v", err)
	}
}

func TestS3ReconcilerLeavesSecretsOfOthers(t *testing.T) {
	r, req := newS3Reconciler(t)
	s3 := s3In(t, r, req)
	other := secretOf(s3)
	other.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "1", Controller: new(true)}}
	if err := r.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err == nil {
		t.Error("a Secret of somebody else was taken")
	}
	if err := r.Delete(t.Context(), s3); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if err := r.Get(t.Context(), req.NamespacedName, other); err != nil {
		t.Errorf("the Secret of somebody else: %v", err)
	}
}

var _ = Describe("S3 and Secret controllers, side by side", func() {
	It("carry a bucket through its life", func() {
		account := cloudtest.NewAccount()
		counting := runController(func(mgr ctrl.Manager, c client.Client) error {
			buckets, secrets := s3ReconcilerWith(c), secretReconcilerWith(c)
			buckets.Cloud, secrets.Cloud = account, account
			return errors.Join(buckets.SetupWithManager(mgr), secrets.SetupWithManager(mgr))
		})
		s3 := &systeknov1.S3{}
		createSample(s3Sample, s3)
		key := client.ObjectKeyFromObject(s3)
		Eventually(func(g Gomega) {
			secret := secretOf(s3)
			g.Expect(k8sClient.Get(ctx, key, secret)).To(Succeed())
			g.Expect(secret.Data).To(HaveKey(accessKeyID))
			g.Expect(k8sClient.Get(ctx, key, s3)).To(Succeed())
			g.Expect(meta.IsStatusConditionTrue(s3.Status.Conditions, "Ready")).To(BeTrue())
		}).WithTimeout(time.Minute).Should(Succeed())
		before := counting.settled(s3)

		By("writing the status, which calls nobody")
		s3.Status.URL = "https://elsewhere.example.org"
		Expect(k8sClient.Status().Update(ctx, s3)).To(Succeed())
		Consistently(func() int { return counting.reads(s3) }).Should(Equal(before))

		By("changing the spec, which calls once")
		changed := s3.DeepCopy()
		changed.Spec.Versioned = true
		Expect(k8sClient.Patch(ctx, changed, client.MergeFrom(s3))).To(Succeed())
		counting.readsMore(s3, before)
		Expect(counting.settled(s3)).To(Equal(before + 1))
		Expect(k8sClient.Get(ctx, key, s3)).To(Succeed())
		Expect(s3.Status.URL).To(Equal("https://sample-bucket.example.org"))

		By("deleting it")
		Expect(k8sClient.Delete(ctx, s3)).To(Succeed())
		Eventually(func() bool { return apierrors.IsNotFound(k8sClient.Get(ctx, key, s3)) }).
			WithTimeout(time.Minute).Should(BeTrue())
		Expect(slices.Compact(account.Writes())).To(Equal(slices.Insert(slices.Clone(lifeOfBucket), 2, "put bucket sample-bucket")))
	})
})
