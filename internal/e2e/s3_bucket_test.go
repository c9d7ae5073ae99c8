//go:build testall

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// bucket is an S3 object with its Secret, and the bucket in the cloud. It has the name of the
// namespace, which is unique.
type bucket struct {
	*cloudAccount
	*manager
	name       string
	s3, secret *unstructured.Unstructured
}

// create creates the object, which is deleted with the test.
func (b *bucket) create(t *testing.T) {
	t.Helper()
	object := b.s3.DeepCopy()
	object.Object["spec"] = map[string]any{"bucket": b.name}
	if _, err := cluster.create(t, object); err != nil {
		t.Fatal(err)
	}
}

// remove deletes the object and waits until it is gone.
func (b *bucket) remove(t *testing.T) {
	t.Helper()
	if err := cluster.delete(t, b.s3); err != nil {
		t.Fatal(err)
	}
	b.awaitDeleted(t)
}

func (b *bucket) awaitDeleted(t *testing.T) {
	t.Helper()
	eventually(t, "delete the S3", func() error { return gone(cluster.get(t, b.s3)) })
}

// awaitReady waits until the condition Ready of the current generation has a status, a reason
// and a text in its message. It returns the object.
func (b *bucket) awaitReady(t *testing.T, status, reason, words string) (o *unstructured.Unstructured) {
	t.Helper()
	eventually(t, "Ready="+status+" "+reason, func() (err error) {
		if o, err = cluster.get(t, b.s3); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			c := c.(map[string]any)
			if c["type"] == "Ready" && c["status"] == status && c["reason"] == reason &&
				c["observedGeneration"] == o.GetGeneration() && strings.Contains(c["message"].(string), words) {
				return nil
			}
		}
		return fmt.Errorf("the conditions are %v", conditions)
	})
	return o
}

// awaitReconciled waits until both controllers have done their work: until the S3 is ready, the
// Secret has its key, and the cloud receives no more requests for the bucket. The S3 is ready first,
// and each change of the Secret triggers Reconcile. It returns the S3.
func (b *bucket) awaitReconciled(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	o := b.awaitReady(t, "True", "Reconciled", "")
	eventually(t, "fill in the Secret", func() error {
		secret, err := cluster.get(t, b.secret)
		if err != nil {
			return err
		}
		data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
		owners, finalizers := secret.GetOwnerReferences(), secret.GetFinalizers()
		if data["ACCESS_KEY_ID"] == "" || len(owners) != 1 || owners[0].UID != o.GetUID() || !slices.Contains(finalizers, "systek.no/secret") {
			return fmt.Errorf("the Secret has keys %v, owners %v, finalizers %v", data, owners, finalizers)
		}
		return nil
	})
	last, quiet := -1, 0
	eventually(t, "no more requests", func() error {
		n := len(b.requests(b.name, ""))
		if quiet++; n != last {
			last, quiet = n, 0
		}
		if quiet < int(quietPeriod/interval) {
			return fmt.Errorf("%d requests so far", n)
		}
		return nil
	})
	return o
}

// reads returns how often Reconcile has begun: each time with a read of the bucket.
func (b *bucket) reads() int { return len(b.requests(b.name, "GET /buckets/")) }

func (b *bucket) awaitReads(t *testing.T, n int) {
	t.Helper()
	eventually(t, "reconcile again", func() error {
		if have := b.reads(); have < n {
			return fmt.Errorf("the cloud received %d requests", have)
		}
		return nil
	})
}

// wantNoRequests fails the test if the cloud receives a request for the bucket.
func (b *bucket) wantNoRequests(t *testing.T, why string) {
	t.Helper()
	before := len(b.requests(b.name, ""))
	consistently(t, why, func() error {
		if all := b.requests(b.name, ""); len(all) > before {
			return fmt.Errorf("the cloud received %v", all[before:])
		}
		return nil
	})
}

// failures returns the errors that the manager logged for the object, without conflicts,
// which occur when the cache does not have the latest update yet.
func (b *bucket) failures() []string {
	return slices.DeleteFunc(strings.Split(b.logs(), "\n"), func(line string) bool {
		return !strings.Contains(line, `"error"`) || !strings.Contains(line, b.name) || strings.Contains(line, "the object has been modified")
	})
}

// changes returns the requests that change something, without repeats.
func (b *bucket) changes() []string {
	var all []string
	for _, c := range b.requests(b.name, "") {
		if !strings.HasPrefix(c.request, "GET ") {
			all = append(all, c.request)
		}
	}
	return slices.Compact(all)
}
