package extension

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const rbac = "rbac.authorization.k8s.io"

// kinds are the kinds of a bundle's files that are not in the ClusterServiceVersion: their resource,
// and whether they are in a namespace.
var kinds = map[string]struct {
	resource   string
	namespaced bool
}{
	"ClusterRole":           {"clusterroles", false},
	"ClusterRoleBinding":    {"clusterrolebindings", false},
	"ConfigMap":             {"configmaps", true},
	"ConsoleCLIDownload":    {"consoleclidownloads", false},
	"ConsoleLink":           {"consolelinks", false},
	"ConsolePlugin":         {"consoleplugins", false},
	"ConsoleQuickStart":     {"consolequickstarts", false},
	"ConsoleYAMLSample":     {"consoleyamlsamples", false},
	"NetworkPolicy":         {"networkpolicies", true},
	"PodDisruptionBudget":   {"poddisruptionbudgets", true},
	"PodMonitor":            {"podmonitors", true},
	"PriorityClass":         {"priorityclasses", false},
	"PrometheusRule":        {"prometheusrules", true},
	"Role":                  {"roles", true},
	"RoleBinding":           {"rolebindings", true},
	"Secret":                {"secrets", true},
	"Service":               {"services", true},
	"ServiceAccount":        {"serviceaccounts", true},
	"ServiceMonitor":        {"servicemonitors", true},
	"VerticalPodAutoscaler": {"verticalpodautoscalers", true},

	"CustomResourceDefinition": {"customresourcedefinitions", false},
}

// resource is a type of objects that the installer creates.
type resource struct{ group, name string }

func byName(a, b resource) int { return strings.Compare(a.group+"/"+a.name, b.group+"/"+b.name) }

// permissions are what the installer may do in one namespace, or in all.
type permissions struct {
	managed map[resource][]string // names of objects; OLM generates a name that is ""
	granted []Object              // rules that it grants, and must therefore have
}

func (p *permissions) manage(group, resourceName, object string) {
	key := resource{group, resourceName}
	p.managed[key] = append(p.managed[key], object)
}

// installer returns the ServiceAccount of the installer and its roles: it may create what the
// bundle has, change and delete it by name, and grant what the operator is granted.
func installer(b *bundle.Bundle, o Options, watch string) []Object {
	cluster := &permissions{managed: map[resource][]string{}}
	namespaces := map[string]*permissions{o.Namespace: {managed: map[resource][]string{}}}
	if watch != "" && namespaces[watch] == nil {
		namespaces[watch] = &permissions{managed: map[resource][]string{}}
	}
	own := namespaces[o.Namespace]
	files(b, cluster, own)
	grants(b, cluster, own, namespaces[watch])
	deployments(b, cluster, own)

	rules := append(cluster.rules("list", "watch"), watches(namespaces)...)
	rules = append(rules, rule(group, "clusterextensions/finalizers", []string{"update"}, o.Name))
	all := []Object{object("v1", "ServiceAccount", o.Namespace, o.ServiceAccount, nil)}
	all = append(all, role("ClusterRole", "", o, rules), binding("ClusterRole", "", o))
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		if rules := namespaces[namespace].rules(); len(rules) > 0 {
			all = append(all, role("Role", namespace, o, rules), binding("Role", namespace, o))
		}
	}
	return all
}

// watches returns the rules for watching the kinds that the installer manages in namespaces. OLM watches
// what it has created in the whole cluster.
func watches(namespaces map[string]*permissions) []any {
	seen := map[resource]bool{}
	for _, p := range namespaces {
		for key := range p.managed {
			seen[key] = true
		}
	}
	var rules []any
	for _, key := range slices.SortedFunc(maps.Keys(seen), byName) {
		rules = append(rules, rule(key.group, key.name, []string{"list", "watch"}))
	}
	return rules
}

// files adds the objects in files of the bundle. Whoever creates a role needs its rules.
func files(b *bundle.Bundle, cluster, own *permissions) {
	for _, m := range b.Manifests {
		gvk := schema.FromAPIVersionAndKind(jsonvalue.String(m.Object, "apiVersion"), jsonvalue.String(m.Object, "kind"))
		kind, ok := kinds[gvk.Kind]
		if !ok {
			continue
		}
		p := cluster
		if kind.namespaced {
			p = own
		}
		p.manage(gvk.Group, kind.resource, jsonvalue.String(m.Object, "metadata", "name"))
		if kind.resource == "clusterroles" || kind.resource == "roles" {
			p.granted = append(p.granted, jsonvalue.Maps(m.Object, "rules")...)
		}
	}
}

// grants adds what the ClusterServiceVersion grants to the operator. An operator for all namespaces
// has all of it everywhere, and may list the namespaces.
func grants(b *bundle.Bundle, cluster, own, watched *permissions) {
	for _, key := range []string{"clusterPermissions", "permissions"} {
		for _, p := range jsonvalue.Maps(b.Spec(), "install", "spec", key) {
			if account := jsonvalue.String(p, "serviceAccountName"); account != "" && account != "default" {
				own.manage("", "serviceaccounts", account)
			}
			to, kind := cluster, "cluster"
			if key == "permissions" && watched != nil {
				to, kind = watched, ""
			}
			to.manage(rbac, kind+"roles", "")
			to.manage(rbac, kind+"rolebindings", "")
			to.granted = append(to.granted, jsonvalue.Maps(p, "rules")...)
			if key == "permissions" && watched == nil {
				to.granted = append(to.granted, rule("", "namespaces", []string{"get", "list", "watch"}))
			}
		}
	}
}

// deployments adds the Deployments, and what serves their webhooks. cert-manager makes the
// certificates where it is installed.
func deployments(b *bundle.Bundle, cluster, own *permissions) {
	for _, d := range b.Deployments() {
		own.manage("apps", "deployments", jsonvalue.String(d, "name"))
	}
	for _, w := range jsonvalue.Maps(b.Spec(), "webhookdefinitions") {
		service := suffixed(strings.ReplaceAll(jsonvalue.String(w, "deploymentName"), ".", "-"), "service")
		certificate := suffixed(service, "cert")
		own.manage("", "services", service)
		own.manage("cert-manager.io", "certificates", certificate)
		own.manage("cert-manager.io", "issuers", suffixed(certificate, "selfsigned-issuer"))
		webhook := strings.TrimSuffix(jsonvalue.String(w, "generateName"), "-")
		switch jsonvalue.String(w, "type") {
		case "ValidatingAdmissionWebhook":
			cluster.manage("admissionregistration.k8s.io", "validatingwebhookconfigurations", webhook)
		case "MutatingAdmissionWebhook":
			cluster.manage("admissionregistration.k8s.io", "mutatingwebhookconfigurations", webhook)
		}
	}
}

// suffixed returns a name with a suffix, as OLM shortens it.
func suffixed(name, suffix string) string {
	const longest = 63
	if len(name)+len(suffix) > longest {
		name = name[:longest-len(suffix)-1]
	}
	return name + "-" + suffix
}

// rules returns the rules for the objects, and those that are granted. Permissions to create, and the
// further verbs, cannot be limited to names.
func (p *permissions) rules(more ...string) []any {
	var rules []any
	for _, key := range slices.SortedFunc(maps.Keys(p.managed), byName) {
		names := p.managed[key]
		if slices.Contains(names, "") {
			rules = append(rules, rule(key.group, key.name, slices.Concat([]string{"create", "delete", "get", "patch", "update"}, more)))
			continue
		}
		rules = append(rules,
			rule(key.group, key.name, slices.Concat([]string{"create"}, more)),
			rule(key.group, key.name, []string{"delete", "get", "patch", "update"}, names...))
	}
	seen := map[string]bool{}
	for _, r := range p.granted {
		src, err := json.Marshal(r) // maps are sorted
		if err == nil && !seen[string(src)] {
			seen[string(src)] = true
			rules = append(rules, r)
		}
	}
	return rules
}

func rule(group, resource string, verbs []string, names ...string) Object {
	r := Object{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": jsonvalue.ListOf(verbs)}
	if names = sorted(names); len(names) > 0 {
		r["resourceNames"] = jsonvalue.ListOf(names)
	}
	return r
}

func role(kind, namespace string, o Options, rules []any) Object {
	r := object(rbac+"/v1", kind, namespace, o.ServiceAccount, nil)
	r["rules"] = rules
	return r
}

func binding(kind, namespace string, o Options) Object {
	b := object(rbac+"/v1", kind+"Binding", namespace, o.ServiceAccount, nil)
	b["roleRef"] = Object{"apiGroup": rbac, "kind": kind, "name": o.ServiceAccount}
	b["subjects"] = []any{Object{"kind": "ServiceAccount", "name": o.ServiceAccount, "namespace": o.Namespace}}
	return b
}
