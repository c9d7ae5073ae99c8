package controller

// These specs are for busybox_deployment_owned.go and use functions of
// busybox_controller_test.go. Delete this file together with either of them.

import (
	"context"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	cachev1alpha1 "example.org/memcached/api/v1alpha1"
)

const busyboxTestImage = "example.com/busybox:test"

func init() { // all tests of the controller need the variable
	if err := os.Setenv(busyboxImage, busyboxTestImage); err != nil {
		panic(err)
	}
}

// busyboxDeploymentAvailable stands in for the Deployment controller, which tests do not have: it
// makes a Deployment available.
func busyboxDeploymentAvailable(ctx context.Context, c client.Client, name client.ObjectKey) error {
	return setBusyboxReconcilerDeploymentCondition(ctx, c, name, appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue})
}

func setBusyboxReconcilerDeploymentCondition(ctx context.Context, c client.Client, name client.ObjectKey, condition appsv1.DeploymentCondition) error {
	deployment := &appsv1.Deployment{}
	if err := c.Get(ctx, name, deployment); err != nil {
		return err
	}
	deployment.Status.ObservedGeneration = deployment.Generation
	deployment.Status.Conditions = []appsv1.DeploymentCondition{condition}
	return c.Status().Update(ctx, deployment)
}

// The API server of tests has no garbage collector for the Deployments of deleted owners.
var _ = BeforeEach(func() {
	Expect(k8sClient.DeleteAllOf(ctx, &appsv1.Deployment{},
		client.InNamespace(metav1.NamespaceDefault), client.MatchingLabels{"app.kubernetes.io/name": "busybox"})).To(Succeed())
})

var _ = Describe("Busybox controller that deploys an image", func() {
	var (
		obj        *cachev1alpha1.Busybox
		deployment *appsv1.Deployment
	)

	// start runs the controller, with the events of the manager, and creates the sample.
	start := func() {
		GinkgoHelper()
		runController(func(mgr ctrl.Manager, c client.Client) error {
			r := busyboxReconcilerWith(c)
			r.Recorder = nil
			return r.SetupWithManager(mgr)
		})
		obj, deployment = &cachev1alpha1.Busybox{}, &appsv1.Deployment{}
		createSample(busyboxSample, obj)
	}
	eventually := func(check func(g Gomega)) {
		GinkgoHelper()
		Eventually(check).WithTimeout(time.Minute).WithPolling(100 * time.Millisecond).Should(Succeed())
	}
	// deployed waits until the Deployment passes a check.
	deployed := func(check func(g Gomega)) {
		GinkgoHelper()
		eventually(func(g Gomega) {
			deployment = &appsv1.Deployment{}
			g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), deployment)).To(Succeed())
			check(g)
		})
	}
	// reported waits until a condition has a status, and returns it.
	reported := func(condition string, status metav1.ConditionStatus) (c *metav1.Condition) {
		GinkgoHelper()
		eventually(func(g Gomega) {
			g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj)).To(Succeed())
			c = meta.FindStatusCondition(obj.Status.Conditions, condition)
			g.Expect(c).NotTo(BeNil())
			g.Expect(c.Status).To(Equal(status), c.Message)
			g.Expect(c.ObservedGeneration).To(Equal(obj.Generation))
		})
		return c
	}
	emitted := func(reason string) {
		GinkgoHelper()
		eventually(func(g Gomega) {
			events := &corev1.EventList{}
			g.Expect(k8sClient.List(ctx, events, client.InNamespace(obj.Namespace))).To(Succeed())
			var reasons []string
			for _, e := range events.Items {
				if e.InvolvedObject.UID == obj.UID {
					reasons = append(reasons, e.Reason)
				}
			}
			g.Expect(reasons).To(ContainElement(reason))
		})
	}

	It("creates a Deployment that the Busybox owns", func() {
		start()
		deployed(func(Gomega) {})
		Expect(metav1.IsControlledBy(deployment, obj)).To(BeTrue())
		Expect(deployment.Spec.Replicas).To(HaveValue(Equal(*obj.Spec.Size)))
		pod := deployment.Spec.Template.Spec
		Expect(pod.SecurityContext.RunAsNonRoot).To(HaveValue(BeTrue()))
		Expect(pod.Containers).To(HaveLen(1))
		container := pod.Containers[0]
		Expect(container.Image).To(Equal(busyboxTestImage))
		Expect(container.SecurityContext.AllowPrivilegeEscalation).To(HaveValue(BeFalse()))
		emitted("Created")
	})

	It("follows the spec, reverts changes of others, and creates a deleted Deployment again", func() {
		start()
		deployed(func(Gomega) {})

		By("changing the size")
		size := *obj.Spec.Size + 2
		patch := client.MergeFrom(obj.DeepCopy())
		obj.Spec.Size = &size
		Expect(k8sClient.Patch(ctx, obj, patch)).To(Succeed())
		deployed(func(g Gomega) { g.Expect(deployment.Spec.Replicas).To(HaveValue(Equal(size))) })
		emitted("Updated")

		By("changing the Deployment")
		other := deployment.DeepCopy()
		var none int32
		other.Spec.Replicas = &none
		other.Spec.Template.Spec.Containers[0].Image = "example.com/other:1"
		other.Labels["example.com/others"] = "stay"
		Expect(k8sClient.Patch(ctx, other, client.MergeFrom(deployment))).To(Succeed())
		deployed(func(g Gomega) {
			g.Expect(deployment.Spec.Replicas).To(HaveValue(Equal(size)))
			g.Expect(deployment.Spec.Template.Spec.Containers[0].Image).To(Equal(busyboxTestImage))
			g.Expect(deployment.Labels).To(HaveKey("example.com/others"))
		})

		By("deleting it")
		uid := deployment.UID
		Expect(k8sClient.Delete(ctx, deployment)).To(Succeed())
		deployed(func(g Gomega) { g.Expect(deployment.UID).NotTo(Equal(uid)) })
	})

	It("reports whether the Deployment is available or fails", func() {
		start()
		Expect(reported("Available", metav1.ConditionFalse).Reason).To(Equal("DeploymentUnavailable"))
		reported("Degraded", metav1.ConditionFalse)

		By("making it available")
		Expect(busyboxDeploymentAvailable(ctx, k8sClient, client.ObjectKeyFromObject(obj))).To(Succeed())
		reported("Available", metav1.ConditionTrue)

		By("letting it fail")
		Expect(setBusyboxReconcilerDeploymentCondition(ctx, k8sClient, client.ObjectKeyFromObject(obj), appsv1.DeploymentCondition{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "too slow",
		})).To(Succeed())
		Expect(reported("Degraded", metav1.ConditionTrue).Reason).To(Equal("ProgressDeadlineExceeded"))
		reported("Available", metav1.ConditionFalse)
	})

	It("reports that the environment variable with the image is missing", func() {
		GinkgoT().Setenv(busyboxImage, "")
		start()
		Expect(reported("Degraded", metav1.ConditionTrue).Message).To(ContainSubstring(busyboxImage))
		reported("Available", metav1.ConditionFalse)
	})

	It("leaves a Deployment of another owner alone", func() {
		theirs := &appsv1.Deployment{}
		placed := &cachev1alpha1.Busybox{}
		Expect(readSample(busyboxSample, placed)).To(Succeed())
		labels := map[string]string{"app": "theirs"}
		theirs.Namespace, theirs.Name = placed.Namespace, placed.Name
		theirs.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		theirs.Spec.Template.Labels = labels
		theirs.Spec.Template.Spec.Containers = []corev1.Container{{Name: "theirs", Image: "example.com/theirs:1"}}
		Expect(k8sClient.Create(ctx, theirs)).To(Succeed())
		DeferCleanup(func() { Expect(k8sClient.Delete(ctx, theirs)).To(Succeed()) })
		start()
		reported("Degraded", metav1.ConditionTrue)
		deployed(func(g Gomega) { g.Expect(deployment.UID).To(Equal(theirs.UID)) })
		Expect(deployment.Spec.Template.Spec.Containers).To(HaveLen(1))
		Expect(deployment.Spec.Template.Spec.Containers[0].Name).To(Equal("theirs"))
	})

	It("finalizes a Busybox that is deleted", func() {
		start()
		eventually(func(g Gomega) {
			g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj)).To(Succeed())
			g.Expect(controllerutil.ContainsFinalizer(obj, busyboxFinalizer)).To(BeTrue())
		})
		Expect(k8sClient.Delete(ctx, obj)).To(Succeed())
		eventually(func(g Gomega) {
			g.Expect(client.IgnoreNotFound(k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj))).To(Succeed())
			g.Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), obj)).NotTo(Succeed())
		})
		emitted("Deleting")
	})
})
