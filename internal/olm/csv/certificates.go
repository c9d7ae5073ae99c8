package csv

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
)

// OLM makes the certificate of webhook servers, and mounts it into all containers of the
// Deployment that serves a webhook:
// https://olm.operatorframework.io/docs/advanced-tasks/adding-admission-and-conversion-webhooks/
const certificateFolder = "/tmp/k8s-webhook-server/serving-certs"

const certManager = "cert-manager.io"

// selfVariables tell the manager of a project with --webhook-certs self that it makes its
// certificate. Without them it uses the files in certificateFolder.
var selfVariables = []string{"WEBHOOK_SERVICE", "WEBHOOK_NAMESPACE"}

// certificates leaves out what makes certificates outside of OLM: the objects of
// cert-manager, the Secret and the permissions of a manager that makes its own, and the
// volumes with such certificates.
func (g *generator) certificates() {
	for _, o := range g.objects {
		if o.place == "" && o.group() == certManager {
			if o.GetKind() == "Certificate" {
				g.dropped[jsonvalue.String(o.Object.Object, "spec", "secretName")] = "cert-manager makes it"
			}
			o.leaveOut("OLM makes the certificates of webhooks")
		}
	}
	g.ownCertificates()
	for _, w := range g.workloads {
		g.certificateVolumes(w)
	}
	for _, crd := range g.crds() {
		annotations := jsonvalue.Map(crd.Object.Object, "metadata", "annotations")
		for key := range annotations {
			if strings.HasPrefix(key, certManager+"/inject-") {
				delete(annotations, key) // OLM sets the certificate authority
			}
		}
		if len(annotations) == 0 {
			delete(jsonvalue.Map(crd.Object.Object, "metadata"), "annotations")
		}
	}
}

// serves reports whether OLM mounts a certificate into the pods.
func (g *generator) serves(w *workload) bool {
	return slices.ContainsFunc(g.served, func(h *webhook) bool { return h.workload == w })
}

// ownCertificates leaves out the empty Secret into which a manager writes its certificate,
// and the roles for that.
func (g *generator) ownCertificates() {
	for _, w := range g.workloads {
		if !g.serves(w) {
			continue
		}
		for _, secret := range g.of("", "Secret") {
			data, text := jsonvalue.Map(secret.Object.Object, "data"), jsonvalue.Map(secret.Object.Object, "stringData")
			if len(data)+len(text) > 0 || !mountsAt(w, secret.GetName(), certificateFolder) {
				continue
			}
			secret.leaveOut("OLM makes the certificates of webhooks")
			g.dropped[secret.GetName()] = "the manager makes it"
			for _, c := range w.containers() {
				setList(c, "env", slices.DeleteFunc(jsonvalue.List(c, "env"), func(env any) bool {
					return slices.Contains(selfVariables, jsonvalue.String(env, "name"))
				}))
			}
			g.dropCertificateRoles(secret.GetName())
		}
	}
}

// dropCertificateRoles leaves out the roles and bindings that let a manager write its
// certificate into the Secret and into the objects that trust it.
func (g *generator) dropCertificateRoles(secret string) {
	named := []string{secret}
	for _, o := range g.objects {
		if o.group() == admission || o.group() == extensions {
			named = append(named, o.GetName())
		}
	}
	resources := []string{"secrets", "validatingwebhookconfigurations", "mutatingwebhookconfigurations", "customresourcedefinitions"}
	for _, role := range g.of(rbac, "Role", "ClusterRole") {
		rules := jsonvalue.Maps(role.Object.Object, "rules")
		other := func(rule map[string]any) bool { return !subset(jsonvalue.Strings(rule, "resources"), resources) }
		names := func(rule map[string]any) bool {
			only := jsonvalue.Strings(rule, "resourceNames")
			return len(only) > 0 && subset(only, named)
		}
		if slices.ContainsFunc(rules, other) || !slices.ContainsFunc(rules, names) {
			continue
		}
		role.leaveOut("OLM makes the certificates of webhooks")
		for _, b := range g.of(rbac, role.GetKind()+"Binding") {
			if jsonvalue.String(b.Object.Object, "roleRef", "name") == role.GetName() {
				b.leaveOut(role.reason)
			}
		}
	}
}

func subset(items, of []string) bool {
	return !slices.ContainsFunc(items, func(item string) bool { return !slices.Contains(of, item) })
}

// mountsAt reports whether a container mounts the Secret at the folder.
func mountsAt(w *workload, secret, folder string) bool {
	for _, v := range jsonvalue.Maps(w.spec, "template", "spec", "volumes") {
		if jsonvalue.String(v, "secret", "secretName") == secret && slices.Contains(mountPaths(w, jsonvalue.String(v, "name")), folder) {
			return true
		}
	}
	return false
}

func mountPaths(w *workload, volume string) []string {
	var paths []string
	for _, c := range w.containers() {
		for _, m := range jsonvalue.Maps(c, "volumeMounts") {
			if m["name"] == volume {
				paths = append(paths, path.Clean(jsonvalue.String(m, "mountPath")))
			}
		}
	}
	return paths
}

// certificateVolumes removes the volumes with certificates that the bundle does not have.
func (g *generator) certificateVolumes(w *workload) {
	pod := jsonvalue.Map(w.spec, "template", "spec")
	gone := map[string]bool{}
	for _, v := range jsonvalue.Maps(pod, "volumes") {
		name, secret := jsonvalue.String(v, "name"), jsonvalue.String(v, "secret", "secretName")
		if secret == "" {
			continue
		}
		_, dropped := g.dropped[secret]
		replaced := g.serves(w) && slices.Contains(mountPaths(w, name), certificateFolder)
		if !dropped && !replaced {
			continue
		}
		if !replaced && !g.mountElsewhere(w, name) {
			g.refuse(w.object, "comment out "+g.certManagerAt(secret)+", and let users create the Secret before they install the operator",
				"%s mounts the Secret %s of cert-manager, and OLM makes only the certificates of webhooks in the manifests", w, secret)
			continue
		}
		gone[name] = true
	}
	isGone := func(m any) bool { return gone[jsonvalue.String(m, "name")] }
	for _, c := range w.containers() {
		setList(c, "volumeMounts", slices.DeleteFunc(jsonvalue.List(c, "volumeMounts"), isGone))
		g.unmountedArguments(w, c)
	}
	if len(gone) > 0 {
		setList(pod, "volumes", slices.DeleteFunc(jsonvalue.List(pod, "volumes"), isGone))
	}
}

// certManagerAt returns where the project adds the Certificate for a Secret.
func (g *generator) certManagerAt(secret string) string {
	for _, o := range g.objects {
		if o.group() != certManager || jsonvalue.String(o.Object.Object, "spec", "secretName") != secret {
			continue
		}
		if g.o.ListedAt != nil {
			if at := g.o.ListedAt(o.File); at != "" {
				return at + ", which adds " + path.Dir(o.File)
			}
		}
		return o.File + " in the kustomization"
	}
	return "the objects of cert-manager in the kustomization"
}

// mountElsewhere reports whether the pods can do without the certificate at that path: they
// learn the path from an argument, which unmountedArguments removes or changes.
func (g *generator) mountElsewhere(w *workload, volume string) bool {
	for _, folder := range mountPaths(w, volume) {
		found := false
		for _, c := range w.containers() {
			found = found || slices.ContainsFunc(jsonvalue.Strings(c, "args"), func(arg string) bool {
				f, is := certificateArgument(arg)
				return is && f == folder
			})
		}
		if !found {
			return false
		}
	}
	return true
}

// certificateArgument returns the folder in an argument such as --metrics-cert-path=FOLDER.
func certificateArgument(arg string) (folder string, ok bool) {
	name, value, found := strings.Cut(arg, "=")
	if !found || !strings.HasSuffix(name, "-cert-path") || !path.IsAbs(value) {
		return "", false
	}
	return path.Clean(value), true
}

// unmountedArguments removes arguments with the folder of a certificate that is not there,
// without which the manager makes a certificate. The one of the webhook server gets the
// folder of OLM.
func (g *generator) unmountedArguments(w *workload, container map[string]any) {
	args := jsonvalue.List(container, "args")
	if args == nil {
		return
	}
	var kept []any
	for _, arg := range args {
		text, _ := arg.(string)
		folder, is := certificateArgument(text)
		mounted := slices.ContainsFunc(jsonvalue.Maps(container, "volumeMounts"), func(m map[string]any) bool {
			at := path.Clean(jsonvalue.String(m, "mountPath"))
			return folder == at || strings.HasPrefix(folder, at+"/")
		})
		name, _, _ := strings.Cut(text, "=")
		switch {
		case !is || mounted:
			kept = append(kept, arg)
		case g.serves(w) && strings.HasSuffix(name, "webhook-cert-path"):
			kept = append(kept, name+"="+certificateFolder)
		default:
			g.warn(w.object, "certificate-argument", "the bundle leaves out the argument "+text+" of "+w.String()+", because OLM makes only the certificate of webhooks")
		}
	}
	setList(container, "args", kept)
}
