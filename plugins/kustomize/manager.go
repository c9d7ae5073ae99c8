package kustomize

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/workload"
	"go.yaml.in/yaml/v3"
)

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
	i, err := workload.Manager(all, defaultEntries)
	if err != nil {
		return managerPatch{}, err
	}
	w := all[i]
	m := patchOf(w)
	m.alone = !slices.ContainsFunc(all, func(o workload.Object) bool { return o.Kind() == w.Kind() && o.Name() != w.Name() })
	m.Usual, err = isUsual(w, m, c, p)
	return m, err
}

// isUsual reports whether the patch of new projects fits: it appends to lists of the first container, and passes the flag
// for the folder of the certificate.
func isUsual(w workload.Object, m managerPatch, c *project.Config, p *scaffold.Plan) (bool, error) {
	src, err := p.Read(c.MainFile())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	container := w.Containers()[0]
	lists := container["args"] != nil && container["ports"] != nil && container["volumeMounts"] != nil && w.Pod()["volumes"] != nil
	return lists && w.Kind() == "Deployment" && w.Name() == "controller-manager" && container["name"] == m.Container &&
		m.Port && m.Mount && m.Drains && m.GraceTime && bytes.Contains(src, []byte(`"webhook-cert-path"`)), err
}

// fitsManager reports whether a file of the webhooks depends on the object that runs the manager.
func fitsManager(name string) bool {
	return slices.Contains([]string{webhookPatch, webhookService, webhookPolicy}, name)
}

// certificateDir is where the webhook server of controller-runtime reads its certificate unless a flag says otherwise.
const certificateDir = "/tmp/k8s-webhook-server/serving-certs"

// patchOf returns what the patch adds to a workload.
func patchOf(w workload.Object) managerPatch {
	pod := w.Pod()
	container := w.Containers()[w.Container()]
	m := managerPatch{Kind: w.Kind(), Name: w.Name(), Container: jsonvalue.String(container, "name"), Labels: map[string]string{}}
	m.Port = !slices.ContainsFunc(jsonvalue.Maps(container, "ports"), func(port map[string]any) bool {
		return port["name"] == "webhook-server" || jsonvalue.Int(port, "containerPort") == 9443
	})
	m.Mount = !slices.ContainsFunc(jsonvalue.Maps(container, "volumeMounts"), func(mount map[string]any) bool {
		return mount["mountPath"] == certificateDir
	})
	m.Drains = container["lifecycle"] == nil
	seconds := jsonvalue.Int(pod, "terminationGracePeriodSeconds")
	m.GraceTime = m.Drains && seconds > 0 && seconds < 15
	for key, value := range w.Labels() {
		if text, ok := value.(string); ok {
			m.Labels[yamledit.Scalar(key)] = yamledit.Scalar(text)
		}
	}
	return m
}

// workloads returns the workloads in the files that a kustomization lists, also over other kustomizations.
func workloads(files map[string][]byte, list string) []workload.Object {
	var all []workload.Object
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
			all = append(all, workloadsIn(files[file])...)
		}
	}
	return all
}

// workloadsIn returns the workloads in a file.
func workloadsIn(src []byte) []workload.Object {
	var all []workload.Object
	for d := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var decoded map[string]any
		if d.Decode(&decoded) != nil {
			return all
		}
		if object := workload.Object(decoded); object.Runs() {
			all = append(all, object)
		}
	}
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
