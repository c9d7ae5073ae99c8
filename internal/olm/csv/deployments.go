package csv

import (
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
)

// targetNamespaces is the annotation in which OLM tells pods which namespaces to watch.
const targetNamespaces = "metadata.annotations['olm.targetNamespaces']"

// workload is a Deployment of the operator.
type workload struct {
	*object
	spec map[string]any
}

// account returns the ServiceAccount of the pods.
func (w *workload) account() string {
	pod := jsonvalue.Map(w.spec, "template", "spec")
	for _, key := range []string{"serviceAccountName", "serviceAccount"} {
		if name := jsonvalue.String(pod, key); name != "" {
			return name
		}
	}
	return "default"
}

// containers returns all containers of the pods.
func (w *workload) containers() []map[string]any {
	pod := jsonvalue.Map(w.spec, "template", "spec")
	return append(jsonvalue.Maps(pod, "containers"), jsonvalue.Maps(pod, "initContainers")...)
}

// selectedBy reports whether a Service sends requests to the pods.
func (w *workload) selectedBy(service *object) bool {
	selector, labels := jsonvalue.Map(service.Object.Object, "spec", "selector"), jsonvalue.Map(w.spec, "template", "metadata", "labels")
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

// deployments puts the Deployments into the ClusterServiceVersion.
func (g *generator) deployments() {
	namespaces := map[string]bool{}
	var list []any
	for _, o := range g.of("apps", "Deployment") {
		o.inCSV()
		w := &workload{o, jsonvalue.EnsureMap(o.Object.Object, "spec")}
		g.workloads = append(g.workloads, w)
		namespaces[o.GetNamespace()] = true
		g.namespace = o.GetNamespace()
		entry := map[string]any{"name": o.GetName(), "spec": w.spec}
		if labels := jsonvalue.Map(o.Object.Object, "metadata", "labels"); len(labels) > 0 {
			entry["label"] = labels
		}
		list = append(list, entry)
		g.watchNamespaces(w)
		g.images(w)
	}
	switch {
	case len(list) == 0:
		g.refuse(nil, "add the Deployment of the manager, as config/manager has it", "the manifests have no Deployment, which OLM needs to install an operator")
	case len(namespaces) > 1:
		g.refuse(nil, "use one namespace", "the Deployments are in several namespaces (%s), and OLM installs an operator in one", strings.Join(sorted(namespaces), ", "))
	}
	install := jsonvalue.EnsureMap(g.csv, "spec", "install")
	install["strategy"] = "deployment"
	setList(jsonvalue.EnsureMap(install, "spec"), "deployments", list)
	g.relatedImages()
}

// IsPlaceholder reports whether an image is the one that scaffolds start with.
func IsPlaceholder(image string) bool {
	return image == "controller" || strings.HasPrefix(image, "controller:")
}

// images gives containers with the image that scaffolds start with, which does not exist, the
// image in the existing bundle.
func (g *generator) images(w *workload) {
	for _, c := range w.containers() {
		image := jsonvalue.String(c, "image")
		if !IsPlaceholder(image) {
			continue
		}
		if before := g.previousImage(w.GetName(), jsonvalue.String(c, "name")); before != "" && before != image {
			c["image"] = before
			continue
		}
		g.warn(w.object, "image", w.String()+" has the image "+image+", which is a placeholder: use --image")
	}
}

// previousImage returns the image of a container in the existing bundle, or "".
func (g *generator) previousImage(deployment, container string) string {
	for _, d := range jsonvalue.Maps(g.previous, "spec", "install", "spec", "deployments") {
		before := &workload{spec: jsonvalue.Map(d, "spec")}
		for _, c := range before.containers() {
			if d["name"] == deployment && c["name"] == container {
				return jsonvalue.String(c, "image")
			}
		}
	}
	return ""
}

// watchNamespaces makes the variable WATCH_NAMESPACE follow the OperatorGroup.
func (g *generator) watchNamespaces(w *workload) {
	for _, c := range w.containers() {
		for _, env := range jsonvalue.Maps(c, "env") {
			if env["name"] == "WATCH_NAMESPACE" {
				g.namespaced = true
				delete(env, "value")
				env["valueFrom"] = map[string]any{"fieldRef": map[string]any{"fieldPath": targetNamespaces}}
			}
		}
	}
}
