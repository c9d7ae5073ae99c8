package csv

import (
	"slices"
	"strings"
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
	pod := mapAt(w.spec, "template", "spec")
	for _, key := range []string{"serviceAccountName", "serviceAccount"} {
		if name := textAt(pod, key); name != "" {
			return name
		}
	}
	return "default"
}

// containers returns all containers of the pods.
func (w *workload) containers() []map[string]any {
	pod := mapAt(w.spec, "template", "spec")
	return append(mapsAt(pod, "containers"), mapsAt(pod, "initContainers")...)
}

// selectedBy reports whether a Service sends requests to the pods.
func (w *workload) selectedBy(service *object) bool {
	selector, labels := mapAt(service.Object.Object, "spec", "selector"), mapAt(w.spec, "template", "metadata", "labels")
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
		w := &workload{o, makeMap(o.Object.Object, "spec")}
		g.workloads = append(g.workloads, w)
		namespaces[o.GetNamespace()] = true
		g.namespace = o.GetNamespace()
		entry := map[string]any{"name": o.GetName(), "spec": w.spec}
		if labels := mapAt(o.Object.Object, "metadata", "labels"); len(labels) > 0 {
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
	install := makeMap(g.csv, "spec", "install")
	install["strategy"] = "deployment"
	setList(makeMap(install, "spec"), "deployments", list)
	g.relatedImages()
}

// images gives containers with the image that scaffolds start with, which does not exist, the
// image in the existing bundle.
func (g *generator) images(w *workload) {
	for _, c := range w.containers() {
		image := textAt(c, "image")
		if image != "controller" && !strings.HasPrefix(image, "controller:") {
			continue
		}
		if before := g.previousImage(w.GetName(), textAt(c, "name")); before != "" && before != image {
			c["image"] = before
			continue
		}
		g.warn(w.object, "image", w.String()+" has the image "+image+", which stands for another one: use --image")
	}
}

// previousImage returns the image of a container in the existing bundle, or "".
func (g *generator) previousImage(deployment, container string) string {
	for _, d := range mapsAt(g.previous, "spec", "install", "spec", "deployments") {
		before := &workload{spec: mapAt(d, "spec")}
		for _, c := range before.containers() {
			if d["name"] == deployment && c["name"] == container {
				return textAt(c, "image")
			}
		}
	}
	return ""
}

// watchNamespaces makes the variable WATCH_NAMESPACE follow the OperatorGroup.
func (g *generator) watchNamespaces(w *workload) {
	for _, c := range w.containers() {
		for _, env := range mapsAt(c, "env") {
			if env["name"] == "WATCH_NAMESPACE" {
				g.namespaced = true
				delete(env, "value")
				env["valueFrom"] = map[string]any{"fieldRef": map[string]any{"fieldPath": targetNamespaces}}
			}
		}
	}
}

// relatedImages adds the images in variables RELATED_IMAGE_NAME to those of the base. An
// image of the base with the same name gets the value of the variable.
func (g *generator) relatedImages() {
	type found struct{ name, image, container string }
	var images []found
	for _, w := range g.workloads {
		containers := w.containers()
		for _, c := range containers {
			at := w.GetName()
			if len(containers) > 1 {
				at += "-" + textAt(c, "name")
			}
			for _, env := range mapsAt(c, "env") {
				name, is := strings.CutPrefix(textAt(env, "name"), "RELATED_IMAGE_")
				if !is {
					continue
				}
				if env["valueFrom"] != nil {
					g.refuse(nil, "give it a value", "the variable %s of %s has no value but a reference, and a related image needs one", env["name"], w)
					continue
				}
				image := found{strings.ToLower(strings.ReplaceAll(name, "_", "-")), textAt(env, "value"), at}
				same := func(f found) bool { return f.name == image.name && f.image == image.image }
				if !slices.ContainsFunc(images, same) {
					images = append(images, image)
				}
			}
		}
	}
	spec := makeMap(g.csv, "spec")
	related := listAt(spec, "relatedImages")
	for _, f := range images {
		if slices.ContainsFunc(images, func(other found) bool { return other.name == f.name && other.image != f.image }) {
			f.name = f.container + "-" + f.name
		}
		i := slices.IndexFunc(related, func(item any) bool { return at(item, "name") == f.name })
		if i < 0 {
			related = append(related, map[string]any{"name": f.name, "image": f.image})
			continue
		}
		makeMap(related[i].(map[string]any))["image"] = f.image
	}
	setList(spec, "relatedImages", related)
}
