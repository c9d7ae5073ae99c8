package scorecard

import (
	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/olm/podsecurity"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// The names of containers, volumes and files are operator-sdk's, because test images
// and scripts may depend on them.
const (
	testContainer    = "scorecard-test"
	untarContainer   = "scorecard-untar"
	storageContainer = "scorecard-gather"

	archiveVolume = "scorecard-bundle"
	bundleVolume  = "scorecard-untar"
	storageVolume = "scorecard-storage"

	archiveFile = "bundle.tar.gz"
)

// pod returns the pod of a test: an init container unpacks the bundle for the test, and a
// sidecar lives as long as the pod to give access to the storage.
func (p *Pods) pod(test v1alpha3.TestConfiguration) *corev1.Pod {
	spec := corev1.PodSpec{
		ServiceAccountName: p.ServiceAccount,
		RestartPolicy:      corev1.RestartPolicyNever,
		InitContainers: []corev1.Container{{
			Name: untarContainer, Image: p.UntarImage, ImagePullPolicy: corev1.PullIfNotPresent,
			Args: []string{"tar", "xvzf", "/scorecard/" + archiveFile, "-C", "/scorecard-bundle"},
			VolumeMounts: []corev1.VolumeMount{
				{Name: archiveVolume, MountPath: "/scorecard", ReadOnly: true},
				{Name: bundleVolume, MountPath: "/scorecard-bundle"},
			},
		}},
		Containers: []corev1.Container{{
			Name: testContainer, Image: test.Image, ImagePullPolicy: corev1.PullIfNotPresent,
			Command:      test.Entrypoint,
			VolumeMounts: []corev1.VolumeMount{{Name: bundleVolume, MountPath: "/bundle", ReadOnly: true}},
			Env: []corev1.EnvVar{{Name: "SCORECARD_NAMESPACE", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"},
			}}},
		}},
		Volumes: []corev1.Volume{
			{Name: archiveVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: p.name},
			}}},
			{Name: bundleVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
	}
	if folder := test.Storage.Spec.MountPath.Path; folder != "" {
		p.addStorage(&spec, folder)
	}
	if p.Restricted {
		podsecurity.Restrict(&spec)
	}
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name:   "scorecard-test-" + rand.String(5),
			Labels: p.labels(),
		},
		Spec: spec,
	}
}

// addStorage adds a folder for the output of the test.
func (p *Pods) addStorage(spec *corev1.PodSpec, folder string) {
	test := &spec.Containers[0]
	test.VolumeMounts = append(test.VolumeMounts, corev1.VolumeMount{Name: storageVolume, MountPath: folder})
	test.Env = append(test.Env, corev1.EnvVar{Name: "SCORECARD_STORAGE", Value: folder})
	folders := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: storageVolume, VolumeSource: folders})
	spec.Containers = append(spec.Containers, corev1.Container{
		Name: storageContainer, Image: p.StorageImage, ImagePullPolicy: corev1.PullIfNotPresent,
		Args:         []string{"/bin/sh", "-c", "trap exit TERM; sleep 1000 & wait"},
		VolumeMounts: []corev1.VolumeMount{{Name: storageVolume, MountPath: folder, ReadOnly: true}},
	})
}
