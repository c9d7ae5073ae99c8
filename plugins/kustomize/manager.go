package kustomize

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"go.yaml.in/yaml/v3"
)

// workload is an object that runs pods, such as a Deployment, in a manifest.
type workload struct {
	file   string
	object map[string]any
}

func (w workload) kind() string        { return jsonvalue.String(w.object, "kind") }
func (w workload) name() string        { return jsonvalue.String(w.object, "metadata", "name") }
func (w workload) pod() map[string]any { return jsonvalue.Map(w.object, "spec", "template", "spec") }
func (w workload) labels() map[string]any {
	return jsonvalue.Map(w.object, "spec", "selector", "matchLabels")
}
func (w workload) containers() []map[string]any { return jsonvalue.Maps(w.pod(), "containers") }

// isWorkload reports whether a kind of objects runs the pods of a manager.
func isWorkload(kind string) bool {
	return slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, kind)
}

// managerPatch is what the patch of the webhooks adds to the object that runs the manager.
type managerPatch struct {
	// Usual means that the object is as operon and the current kubebuilder scaffold it: then the patch appends to its
	// lists. In other projects it is merged, because lists may be missing, and users may add to them later.
	Usual                 bool
	Kind, Name, Container string
	Port                  bool // the port of the webhook server has no name yet
	Mount                 bool // nothing is mounted where the webhook server reads its certificate
	Drains                bool // the container has no lifecycle yet
	GraceTime             bool // the pod has less time to stop
	Labels                map[string]string

	alone bool // nothing else has the kind
}

var usualPatch = managerPatch{Usual: true}

// managerPatchOf returns what the patch adds. In a repository that operon did not start, that depends on the object that
// runs the manager. files are those below config there, or nil.
func managerPatchOf(c *project.Config, files map[string][]byte, p *scaffold.Plan) (managerPatch, error) {
	if files == nil || c.Repo == "" || p.Exists(webhookPatch) && p.Exists(webhookService) && !p.Forced() {
		return usualPatch, nil
	}
	all := workloads(files, defaultEntries)
	if len(all) == 0 {
		p.Warn(scaffold.Warning{File: defaultEntries, Rule: ruleNoManager,
			Message: "no Deployment is listed here: mount the Secret webhook-server-cert where the manager runs, at " + certificateDir +
				", and write the labels of its pods to " + webhookService})
		return usualPatch, nil
	}
	w, err := managerOf(all)
	if err != nil {
		return managerPatch{}, err
	}
	m := patchOf(w)
	m.alone = !slices.ContainsFunc(all, func(o workload) bool { return o.kind() == w.kind() && o.name() != w.name() })
	m.Usual, err = isUsual(w, m, c, p)
	return m, err
}

// isUsual reports whether the patch of new projects fits: it appends to lists of the first container, and passes the flag
// for the folder of the certificate.
func isUsual(w workload, m managerPatch, c *project.Config, p *scaffold.Plan) (bool, error) {
	src, err := p.Read(c.MainFile())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	container := w.containers()[0]
	lists := container["args"] != nil && container["ports"] != nil && container["volumeMounts"] != nil && w.pod()["volumes"] != nil
	return lists && w.kind() == "Deployment" && w.name() == "controller-manager" && container["name"] == m.Container &&
		m.Port && m.Mount && m.Drains && m.GraceTime && bytes.Contains(src, []byte(`"webhook-cert-path"`)), err
}

// fitsManager reports whether a file of the webhooks depends on the object that runs the manager.
func fitsManager(name string) bool {
	return slices.Contains([]string{webhookPatch, webhookService, webhookPolicy}, name)
}

// certificateDir is where the webhook server of controller-runtime reads its certificate unless a flag says otherwise.
const certificateDir = "/tmp/k8s-webhook-server/serving-certs"

// patchOf returns what the patch adds to a workload.
func patchOf(w workload) managerPatch {
	pod := w.pod()
	container := managerContainer(w.containers(), w.name())
	m := managerPatch{Kind: w.kind(), Name: w.name(), Container: jsonvalue.String(container, "name"), Labels: map[string]string{}}
	m.Port = !slices.ContainsFunc(jsonvalue.Maps(container, "ports"), func(port map[string]any) bool {
		return port["name"] == "webhook-server" || jsonvalue.Int(port, "containerPort") == 9443
	})
	m.Mount = !slices.ContainsFunc(jsonvalue.Maps(container, "volumeMounts"), func(mount map[string]any) bool {
		return mount["mountPath"] == certificateDir
	})
	m.Drains = container["lifecycle"] == nil
	seconds := jsonvalue.Int(pod, "terminationGracePeriodSeconds")
	m.GraceTime = m.Drains && seconds > 0 && seconds < 15
	for key, value := range w.labels() {
		if text, ok := value.(string); ok {
			m.Labels[yamledit.Scalar(key)] = yamledit.Scalar(text)
		}
	}
	return m
}

// workloads returns the workloads in the files that a kustomization lists, also over other kustomizations.
func workloads(files map[string][]byte, list string) []workload {
	var all []workload
	queue := []string{list}
	for i := 0; i < len(queue); i++ {
		dir := path.Dir(queue[i])
		var doc map[string]any
		if yaml.Unmarshal(files[queue[i]], &doc) != nil {
			continue // kustomize reports it
		}
		resources, bases := jsonvalue.Strings(doc, "resources"), jsonvalue.Strings(doc, "bases")
		for _, entry := range slices.Concat(resources, bases, jsonvalue.Strings(doc, "components")) {
			file := path.Join(dir, entry)
			if inner := path.Join(file, kustomization); files[inner] != nil && !slices.Contains(queue, inner) {
				queue = append(queue, inner)
			}
			all = append(all, workloadsIn(file, files[file])...)
		}
	}
	return all
}

// workloadsIn returns the workloads in a file.
func workloadsIn(file string, src []byte) []workload {
	var all []workload
	for d := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var object map[string]any
		if d.Decode(&object) != nil {
			return all
		}
		if w := (workload{file, object}); isWorkload(w.kind()) && len(w.containers()) > 0 {
			all = append(all, w)
		}
	}
}

// managerOf returns the workload that runs the manager: the one with the most of the signs that kubebuilder's has.
func managerOf(all []workload) (workload, error) {
	signs := func(w workload) int {
		n := 0
		if w.name() == "controller-manager" || jsonvalue.String(w.labels(), "control-plane") == "controller-manager" ||
			jsonvalue.String(w.object, "metadata", "labels", "control-plane") == "controller-manager" {
			n += 4
		}
		if slices.ContainsFunc(w.containers(), func(c map[string]any) bool { return c["name"] == "manager" }) {
			n += 2
		}
		if isManagerName(w.name()) {
			n++
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b workload) int { return signs(b) - signs(a) })
	if len(all) > 1 && signs(all[0]) == signs(all[1]) {
		return workload{}, fault.Failed("add the label control-plane: controller-manager to the metadata of the one that runs the manager",
			"%s installs %s %s and %s %s, and operon cannot tell which one runs the manager",
			defaultEntries, all[0].kind(), all[0].name(), all[1].kind(), all[1].name())
	}
	return all[0], nil
}

// isManagerName reports whether a name looks like the name of a manager.
func isManagerName(name string) bool {
	return strings.Contains(name, "manager") || strings.Contains(name, "controller") || strings.Contains(name, "operator")
}

// managerContainer returns the container of the manager in a workload of that name.
func managerContainer(all []map[string]any, workload string) map[string]any {
	for _, fits := range []func(name string) bool{
		func(name string) bool { return name == "manager" || name == workload }, isManagerName,
		func(name string) bool { return name != "kube-rbac-proxy" },
	} {
		if i := slices.IndexFunc(all, func(c map[string]any) bool { return fits(jsonvalue.String(c, "name")) }); i >= 0 {
			return all[i]
		}
	}
	return all[0]
}

// checkBuild warns if config/default no longer builds, but built with the files before.
func checkBuild(before map[string][]byte, p *scaffold.Plan) error {
	after, err := configFiles(p)
	if err != nil {
		return err
	}
	dir, quiet := path.Dir(defaultEntries), kustomize.Options{Quiet: true}
	if after[webhookManifests] == nil {
		after[webhookManifests] = []byte{} // it is generated later
	}
	if _, err = kustomize.BuildFiles(after, dir, quiet); err == nil {
		return nil
	}
	if _, earlier := kustomize.BuildFiles(before, dir, quiet); earlier == nil {
		p.Warn(scaffold.Warning{File: defaultEntries, Rule: ruleNotBuilt, Message: "this kustomization does not build with the webhooks: " + err.Error()})
	}
	return nil
}

// configFiles returns the files below config, by their paths.
func configFiles(p *scaffold.Plan) (map[string][]byte, error) {
	below, err := p.ReadBelow("config")
	files := map[string][]byte{}
	for name, content := range below {
		files["config/"+name] = content
	}
	return files, err
}
