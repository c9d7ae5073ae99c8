//go:build testall

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestS3 runs an operator for a kind without a group. Its two controllers manage buckets in a
// cloud account and the users of the buckets.
func TestS3(t *testing.T) {
	t.Parallel()
	account := serveAccount(t)
	i := install(t, cluster, scenario(t, "s3-operator"))
	endpoint := "--cloud-endpoint=" + account.url
	m := testControllersStarted(t, i, account, endpoint)
	testCachesFilled(t, i, endpoint)
	for name, test := range map[string]func(*testing.T, *bucket){
		"lifecycle":      testBucketLifecycle,
		"changes":        testBucketChange,
		"error":          testBucketError,
		"requeue":        testBucketRequeue,
		"requeue after":  testBucketRequeueAfter,
		"terminal error": testBucketRefused,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := cluster.namespace(t, "s3", nil)
			test(t, &bucket{
				name: ns, cloudAccount: account, manager: m,
				s3: object("systek.no/v1", "S3", ns, "sample"), secret: object("v1", "Secret", ns, "sample"),
			})
		})
	}
}

// testControllersStarted starts a manager while the cloud is out of order. One of its two
// controllers waits for the cloud, so the manager is not ready, although its caches are filled
// with the kinds that it watches so far.
func testControllersStarted(t *testing.T, i *installation, account *cloudAccount, endpoint string) *manager {
	account.answer("GET /buckets/any", http.StatusInternalServerError, always)
	m := i.launch(t, endpoint)
	eventually(t, "wait for the cloud", func() error {
		if len(account.requests("any", "GET")) == 0 {
			return errors.New("the controller has not asked")
		}
		return nil
	})
	consistently(t, "not be ready before both controllers have started", func() error {
		return m.wantUnready("caches")
	})
	account.answer("GET /buckets/any", 0, 0)
	m.awaitReady(t)
	return m
}

// testBucketLifecycle creates and deletes a bucket. The operator first deletes the users, then
// the Secret, the bucket and the S3.
func testBucketLifecycle(t *testing.T, b *bucket) {
	b.create(t)
	o := b.awaitReconciled(t)
	if url, _, _ := unstructured.NestedString(o.Object, "status", "url"); url != "https://"+b.name+".example.org" {
		t.Errorf("status.url is %q", url)
	}
	created := []string{"PUT /buckets/" + b.name, "PUT /users/" + b.name}
	if got := b.changes(); !slices.Equal(got, created) || len(b.requests(b.name, "PUT /buckets/")) != 1 {
		t.Errorf("the cloud received %v, want %v", got, created)
	}
	b.wantNoRequests(t, "nothing changed")

	b.answer("DELETE /users/"+b.name, http.StatusInternalServerError, always)
	if err := cluster.delete(t, b.s3); err != nil {
		t.Fatal(err)
	}
	eventually(t, "delete the user first", func() error {
		if len(b.requests(b.name, "DELETE /users/")) < 3 {
			return fmt.Errorf("the cloud received %v", b.changes())
		}
		return nil
	})
	b.awaitReady(t, "False", "Deleting", "")
	consistently(t, "keep the other objects while the user exists", func() error {
		if n := len(b.requests(b.name, "DELETE /buckets/")); n > 0 {
			return fmt.Errorf("the bucket was deleted")
		}
		if _, err := cluster.get(t, b.secret); err != nil {
			return err
		}
		_, err := cluster.get(t, b.s3)
		return err
	})
	b.answer("DELETE /users/"+b.name, 0, 0)
	b.awaitDeleted(t)
	if err := gone(cluster.get(t, b.secret)); err != nil {
		t.Errorf("the Secret outlives the S3: %v", err)
	}
	lifecycle := slices.Concat(created, []string{"DELETE /users/" + b.name, "DELETE /buckets/" + b.name})
	if all := b.changes(); !slices.Equal(all, lifecycle) {
		t.Errorf("the cloud received %v, want %v", all, lifecycle)
	}
}

// testBucketChange checks that a change of the spec triggers Reconcile once, and that the
// update of the status does not trigger it.
func testBucketChange(t *testing.T, b *bucket) {
	b.create(t)
	b.awaitReconciled(t)
	before := b.reads()
	if _, err := cluster.patchStatus(t, b.s3, `{"status":{"url":"https://elsewhere.example.org"}}`); err != nil {
		t.Fatal(err)
	}
	b.wantNoRequests(t, "only the status was written")

	changed, err := cluster.patch(t, b.s3, `{"spec":{"versioned":true}}`)
	if err != nil {
		t.Fatal(err)
	}
	o := b.awaitReconciled(t)
	if url, _, _ := unstructured.NestedString(o.Object, "status", "url"); o.GetGeneration() != changed.GetGeneration() || url != "https://"+b.name+".example.org" {
		t.Errorf("after a change of the spec, the S3 is %v", o.Object)
	}
	if after := b.reads(); after != before+1 {
		t.Errorf("a change of the spec led to %d calls of Reconcile, want one", after-before)
	}
	if n := len(b.requests(b.name, "PUT /buckets/")); n != 2 {
		t.Errorf("the bucket was put %d times, want twice: when it was created, and when it changed", n)
	}
	if _, err := cluster.patch(t, b.s3, `{"spec":{"bucket":"another"}}`); err == nil || !strings.Contains(err.Error(), "a bucket cannot be renamed") {
		t.Errorf("a bucket was renamed: %v", err)
	}
	b.remove(t)
}

// testBucketError checks that Ready reports an error, and that the controller retries with
// growing delays.
func testBucketError(t *testing.T, b *bucket) {
	const tries = 8
	b.answer("GET /buckets/"+b.name, http.StatusInternalServerError, always)
	b.create(t)
	b.awaitReady(t, "False", "ReconcileFailed", "Internal Server Error")
	b.awaitReads(t, tries)
	b.answer("GET /buckets/"+b.name, 0, 0)
	b.awaitReconciled(t)
	if n := len(b.failures()); n < tries {
		t.Errorf("the manager logged %d errors, want %d and more", n, tries)
	}
	// The delay starts at 5 ms and doubles. A slow machine can only make it longer.
	calls := b.requests(b.name, "GET /buckets/")
	for i := range tries - 1 {
		if waited, least := calls[i+1].came.Sub(calls[i].came), 5*time.Millisecond<<i; waited < least {
			t.Errorf("try %d came after %s, want at least %s", i+2, waited, least)
		}
	}
	b.wantNoRequests(t, "it succeeded")
	b.remove(t)
}

// testBucketRequeue checks that a requested retry is not reported as an error.
func testBucketRequeue(t *testing.T, b *bucket) {
	b.answer("GET /buckets/"+b.name, http.StatusTooManyRequests, always)
	b.create(t)
	b.awaitReady(t, "False", "CloudBusy", "")
	b.awaitReads(t, 5)
	b.answer("GET /buckets/"+b.name, 0, 0)
	b.awaitReconciled(t)
	b.wantNoRequests(t, "it succeeded")
	if failures := b.failures(); len(failures) > 0 {
		t.Errorf("the manager logged errors: %q", failures)
	}
	b.remove(t)
}

// testBucketRequeueAfter checks that the controller polls a bucket until it is ready.
func testBucketRequeueAfter(t *testing.T, b *bucket) {
	b.delay(b.name, true)
	b.create(t)
	b.awaitReady(t, "False", "BucketPending", "")
	b.awaitReads(t, 4)
	if err := gone(cluster.get(t, b.secret)); err != nil {
		t.Errorf("the Secret exists before the bucket: %v", err)
	}
	b.delay(b.name, false)
	b.awaitReconciled(t)
	b.wantNoRequests(t, "the bucket is there")
	if n := len(b.requests(b.name, "PUT /buckets/")); n != 1 {
		t.Errorf("the bucket was put %d times, want once", n)
	}
	if failures := b.failures(); len(failures) > 0 {
		t.Errorf("the manager logged errors: %q", failures)
	}
	b.remove(t)
}

// testBucketRefused checks that the controller does not retry a permanent failure until the
// spec changes.
func testBucketRefused(t *testing.T, b *bucket) {
	b.answer("PUT /buckets/"+b.name, http.StatusConflict, 1)
	b.create(t)
	b.awaitReady(t, "False", "ReconcileFailed", "refused: Conflict")
	b.wantNoRequests(t, "it will never succeed")
	if _, err := cluster.patch(t, b.s3, `{"spec":{"versioned":true}}`); err != nil {
		t.Fatal(err)
	}
	b.awaitReady(t, "True", "Reconciled", "")
	b.remove(t)
}
