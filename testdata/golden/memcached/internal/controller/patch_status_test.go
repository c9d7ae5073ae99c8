package controller

// These tests are for patch_status.go. Delete this file together with it.

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestPatchStatusWaitsForCache(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(c client.Client, pod *corev1.Pod) error // before the cache is up to date
		want      string                                       // the status message that c reads next
	}{
		"no other change": {
			meanwhile: func(client.Client, *corev1.Pod) error { return nil },
			want:      "written",
		},
		"another client writes": {
			meanwhile: func(c client.Client, pod *corev1.Pod) error {
				pod.Status.Message = "other"
				return c.Status().Update(t.Context(), pod)
			},
			want: "other",
		},
		"the object is deleted": {
			meanwhile: func(c client.Client, pod *corev1.Pod) error { return c.Delete(t.Context(), pod) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "pod"}}
			stored := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(pod).WithStatusSubresource(pod).Build()
			key := client.ObjectKeyFromObject(pod)
			if err := stored.Get(t.Context(), key, pod); err != nil {
				t.Fatal(err)
			}
			before := pod.DeepCopy()
			behind := 3 // reads
			c := interceptor.NewClient(stored, interceptor.Funcs{
				Get: func(ctx context.Context, stored client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					if behind--; behind < 0 {
						return stored.Get(ctx, key, obj, opts...)
					}
					if behind == 0 {
						if err := test.meanwhile(stored, pod.DeepCopy()); err != nil {
							t.Error(err)
						}
					}
					before.DeepCopyInto(obj.(*corev1.Pod))
					return nil
				},
			})
			pod.Status.Message = "written"
			if err := patchStatus(t.Context(), c, before, pod); err != nil {
				t.Fatal(err)
			}
			got := &corev1.Pod{}
			if err := c.Get(t.Context(), key, got); client.IgnoreNotFound(err) != nil || got.Status.Message != test.want {
				t.Errorf("the client reads the status %q, error %v, want %q", got.Status.Message, err, test.want)
			}
		})
	}
}

func TestPatchStatusEndsWithContext(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "pod"}}
	stored := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(pod).WithStatusSubresource(pod).Build()
	if err := stored.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	before := pod.DeepCopy()
	ctx, stop := context.WithCancel(t.Context())
	c := interceptor.NewClient(stored, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			stop()
			before.DeepCopyInto(obj.(*corev1.Pod))
			return nil
		},
	})
	pod.Status.Message = "written"
	if err := patchStatus(ctx, c, before, pod); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v, want %v", err, context.Canceled)
	}
}
