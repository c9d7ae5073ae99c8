package cluster

import (
	"context"
	"fmt"
	"net"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/podsecurity"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Pod serves the catalog in a pod with opm.
type Pod struct {
	Bundle         string // reference of the bundle's image; "" puts its manifests into the catalog
	Image          string // with opm as its entry point
	PullPolicy     string
	PullSecret     string // "" for none
	ServiceAccount string // "" for the default one
	Restricted     bool   // by the Pod Security Standard restricted
}

// registryPort is the port of opm serve.
const registryPort = 50051

// maxCatalog is the size of the catalog, in bytes, that fits into a ConfigMap.
const maxCatalog = 1 << 20

func (p Pod) bundleImage() string { return p.Bundle }

func (p Pod) serve(ctx context.Context, t *task, name string, catalog []byte) (address string, err error) {
	if len(catalog) > maxCatalog {
		return "", fault.Usage("push the bundle: operon bundle image --push, and name its image", "the catalog with the manifests of %s has %d KiB, and a ConfigMap holds %d", t.bundle.Name(), len(catalog)>>10, maxCatalog>>10)
	}
	if err := t.add(ctx, configMaps, name, map[string]any{"data": map[string]any{catalogFile: string(catalog)}}); err != nil {
		return "", err
	}
	spec := p.spec(name)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return "", err
	}
	if err := t.add(ctx, pods, name, map[string]any{"spec": fields}); err != nil {
		return "", err
	}
	err = t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, pods, t.namespace, name)
		if err != nil || o == nil {
			return false, "", err
		}
		reason := "pod " + name + " starts opm"
		if problems := problemsOf(*o); len(problems) > 0 {
			reason = fmt.Sprintf("pod %s: %s", name, problems[0].Text)
			if problems[0].Final {
				return false, "", fault.Failed("name another image with --index-image", "the catalog does not start: %s", reason)
			}
		}
		ip := jsonvalue.String(o.Object, "status", "podIP")
		address = net.JoinHostPort(ip, fmt.Sprint(registryPort))
		return ip != "" && condition(o.Object, "Ready")["status"] == "True", reason, nil
	})
	if err != nil {
		for _, line := range t.podStateByName(ctx, name) {
			t.Note("%s", line)
		}
	}
	return address, err
}

// catalogFile is the name of the catalog in the ConfigMap.
const catalogFile = "catalog.json"

// spec returns the spec of the pod.
func (p Pod) spec(name string) corev1.PodSpec {
	source := corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
	spec := corev1.PodSpec{
		ServiceAccountName: p.ServiceAccount,
		Containers: []corev1.Container{{
			Name: "registry", Image: p.Image, ImagePullPolicy: corev1.PullPolicy(p.PullPolicy),
			Args:           []string{"serve", "/configs", fmt.Sprintf("--port=%d", registryPort)},
			Ports:          []corev1.ContainerPort{{Name: "grpc", ContainerPort: registryPort}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: registryPort}}, PeriodSeconds: 1},
			// opm reads each file of a folder, and the folder of a ConfigMap has each file twice.
			VolumeMounts: []corev1.VolumeMount{{Name: "catalog", MountPath: "/configs/" + catalogFile, SubPath: catalogFile}},
		}},
		Volumes: []corev1.Volume{{Name: "catalog", VolumeSource: corev1.VolumeSource{ConfigMap: &source}}},
	}
	if p.PullSecret != "" {
		spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: p.PullSecret}}
	}
	if p.Restricted {
		podsecurity.Restrict(&spec)
	}
	return spec
}
