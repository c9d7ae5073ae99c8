package helmchart

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// chart is the chart of a project in the making.
type chart struct {
	name        string
	namespaced  bool // whether the manager watches its own namespace
	build       *build
	names       names
	groups      map[string]bool // that have objects
	metricsPort string          // "" without metrics
	insecure    bool            // whether the manager serves metrics over HTTP
	webhookPort string          // "" without webhooks
	probePort   string          // "" without an argument for it
	version     string          // the tag of the image
	values      values
	templates   map[string]string // by their paths in templates
}

// newChart makes the chart of the objects.
func newChart(name string, namespaced bool, b *build) (*chart, error) {
	c := &chart{name: name, namespaced: namespaced, build: b, names: b.names(name), groups: map[string]bool{}, templates: map[string]string{}}
	for _, o := range b.objects {
		c.groups[groupOf(o)] = true
	}
	c.metricsPort, c.webhookPort, c.probePort = b.ports()
	c.insecure = b.insecure()
	c.values.section("manager", "The Deployment of the manager.")
	c.values.toggle("manager.enabled", "Install it.", true)
	for _, managers := range []bool{true, false} { // its values come first
		for _, o := range b.objects {
			if (groupOf(o) == managerGroup) != managers {
				continue
			}
			if err := c.object(o); err != nil {
				return nil, err
			}
		}
	}
	c.settings()
	return c, nil
}

// has reports whether the chart has a section of values.
func (c *chart) has(section string) bool {
	switch section {
	case "metrics":
		return c.metricsPort != ""
	case "webhook":
		return c.webhookPort != ""
	case "serviceAccount":
		return c.names.account != ""
	}
	group, ok := map[string]string{
		"crd": crdGroup, "certManager": certGroup, "prometheus": prometheusGroup, "networkPolicy": policyGroup,
	}[section]
	return !ok || c.groups[group]
}

// when returns the condition of templates that all values are true, without the values of sections that the chart does
// not have. It is "" if none is left.
func (c *chart) when(paths ...string) string {
	var all []string
	for _, p := range paths {
		if section, _, _ := strings.Cut(p, "."); c.has(section) {
			all = append(all, ".Values."+p)
		}
	}
	if len(all) > 1 {
		return "and " + strings.Join(all, " ")
	}
	return strings.Join(all, "")
}

// object adds the template of an object. Objects with the same name share a file, so that its path does not depend
// on the other objects.
func (c *chart) object(o object) error {
	group, t := groupOf(o), &text{}
	if label := at(o.root, "metadata", "labels", "app.kubernetes.io/managed-by"); label != nil && label.Value == "kustomize" {
		label.Value = t.action(".Release.Service")
	}
	metadata := at(o.root, "metadata")
	if group == managerGroup { // before names become actions, which values cannot have
		first(o.manager, "name")
		c.deployment(o.root, o.manager, t)
	}
	c.names.replace(o, t)
	if annotations := at(metadata, "annotations"); at(annotations, injectCA) != nil {
		if len(annotations.Content) == 2 && group != crdGroup { // CRDs get another one
			t.conditional(metadata, "annotations", c.when("certManager.enabled"))
		} else {
			t.conditional(annotations, injectCA, c.when("certManager.enabled"))
		}
	}
	switch kind := o.GetKind(); {
	case kind == "CustomResourceDefinition":
		c.crd(o.root, t)
	case c.isAccount(o):
		t.extend(metadata, "labels", ".Values.serviceAccount.labels")
		t.replace(metadata, "annotations", "{{- with .Values.serviceAccount.annotations }}", "annotations:", "  {{- toYaml . | nindent @2 }}", "{{- end }}")
	case strings.HasSuffix(kind, "WebhookConfiguration"):
		for _, w := range items(at(o.root, "webhooks")) {
			c.caBundle(at(w, "clientConfig"), t)
		}
	case kind == "Service", kind == "NetworkPolicy":
		c.servicePorts(o.root, t)
	case kind == "ServiceMonitor":
		t.extend(metadata, "labels", ".Values.prometheus.labels")
		t.extend(metadata, "annotations", ".Values.prometheus.annotations")
		c.monitor(o.root, t)
	}
	content, err := t.encode(o.root)
	if err != nil {
		return err
	}
	if condition := c.when(c.conditions(o, group)...); condition != "" {
		content = "{{- if " + condition + " }}\n" + content + "{{- end }}\n"
	}
	file := path.Join(group, strings.ToLower(o.base)+".yaml")
	if before := c.templates[file]; before != "" {
		content = before + "---\n" + content
	}
	c.templates[file] = content
	return nil
}

// injectCA is the annotation that makes cert-manager add its certificate authority to an object.
const injectCA = "cert-manager.io/inject-ca-from"

// first moves a key to the start of a mapping.
func first(mapping *yaml.Node, key string) {
	if i := indexOf(mapping, key); i > 0 {
		pair := slices.Clone(mapping.Content[i : i+2])
		mapping.Content = slices.Insert(slices.Delete(mapping.Content, i, i+2), 0, pair...)
	}
}

// crd adds the settings of a CRD.
func (c *chart) crd(root *yaml.Node, t *text) {
	keep := []string{"{{- if .Values.crd.keep }}", "helm.sh/resource-policy: keep", "{{- end }}"}
	if annotations := at(root, "metadata", "annotations"); annotations != nil {
		t.replace(annotations, "helm.sh/resource-policy", keep...)
	} else {
		t.replace(at(root, "metadata"), "annotations", keep[0], "annotations:", "  "+keep[1], keep[2])
	}
	c.caBundle(at(root, "spec", "conversion", "webhook", "clientConfig"), t)
	t.conditional(at(root, "spec"), "conversion", c.when("webhook.enabled"))
}

// caBundle adds the certificate authority of users that have no cert-manager.
func (c *chart) caBundle(clientConfig *yaml.Node, t *text) {
	if clientConfig == nil || !c.has("certManager") || !c.has("webhook") {
		return
	}
	value := ".Values.webhook.caBundle"
	if own := valueAt(clientConfig, "caBundle"); own != "" { // such as Cg==, which cert-manager replaces
		value += " | default " + strconv.Quote(own)
	}
	t.replace(clientConfig, "caBundle", "{{- with "+value+" }}", "caBundle: {{ . }}", "{{- end }}")
}

// servicePorts replaces the ports of a Service or a NetworkPolicy.
func (c *chart) servicePorts(root *yaml.Node, t *text) {
	lists := []*yaml.Node{at(root, "spec", "ports")}
	for _, rule := range items(at(root, "spec", "ingress")) {
		lists = append(lists, at(rule, "ports"))
	}
	for _, list := range lists {
		for _, port := range items(list) {
			c.port(at(port, "port"), t)
			c.port(at(port, "targetPort"), t)
		}
	}
}

// monitor lets Prometheus scrape metrics without TLS, too.
func (c *chart) monitor(root *yaml.Node, t *text) {
	if !c.has("metrics") || c.insecure {
		return
	}
	for _, endpoint := range items(at(root, "spec", "endpoints")) {
		if scheme := at(endpoint, "scheme"); scheme != nil && scheme.Value == "https" {
			scheme.Value = t.action(`ternary "https" "http" .Values.metrics.secure`)
			first(endpoint, "scheme")
			t.conditional(endpoint, "tlsConfig", ".Values.metrics.secure")
		}
	}
}

// Schemas of several values.
var (
	portSchema = schema{"type": "integer", "minimum": 1, "maximum": 65535}
	texts      = schema{"type": "object", "additionalProperties": schema{"type": "string"}}
)

// settings adds the values that are not for the Deployment.
func (c *chart) settings() {
	v := &c.values
	if c.names.known != nil {
		v.add("fullnameOverride", "Start of the names of all objects. Empty: "+strings.TrimSuffix(c.build.prefix, "-")+".", nil,
			schema{"type": "string", "maxLength": 30, "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$"})
	}
	v.section("rbac", "Permissions of the manager, and of the users of its kinds.")
	scope := &yaml.Node{}
	_ = scope.Encode(c.namespaced) // it cannot fail
	v.add("rbac.namespaced", "Whether the manager watches its own namespace with a Role. The code decides it: operon edit --namespaced.", scope, schema{"const": c.namespaced})
	if slices.ContainsFunc(c.build.objects, isHelperRole) {
		v.section("rbac.helpers", "Roles that let administrators, editors and viewers of a namespace use the kinds.")
		v.toggle("rbac.helpers.enabled", "", true)
	}
	if c.has("serviceAccount") {
		v.section("serviceAccount", "The service account of the manager.")
		v.toggle("serviceAccount.enabled", "Without it, name an existing one.", true)
		v.add("serviceAccount.name", "Empty: the fullname with -controller-manager.", nil, schema{"type": "string"})
		v.add("serviceAccount.labels", "More labels.", nil, schema{"type": "object"})
		v.add("serviceAccount.annotations", "Such as those for the identity of a cloud provider.", c.accountAnnotations(), schema{"type": "object"})
	}
	if c.has("crd") {
		v.section("crd", "CustomResourceDefinitions.")
		v.toggle("crd.enabled", "Install them with the release.", true)
		v.toggle("crd.keep", "Keep them, and so all objects of their kinds, when the release is uninstalled.", true)
	}
	if c.has("metrics") {
		v.section("metrics", "The metrics of the manager.")
		v.toggle("metrics.enabled", "Serve them.", true)
		v.add("metrics.port", "Port of the manager and of its Service.", number(c.metricsPort), portSchema)
		v.toggle("metrics.secure", "Serve them over HTTPS to authorized clients only.", !c.insecure)
	}
	if c.has("webhook") {
		v.section("webhook", "The webhooks of the manager.")
		v.toggle("webhook.enabled", "Serve and register them. Without them, invalid objects are not refused, and versions are not converted.", true)
		v.add("webhook.port", "Port of the webhook server in the pods.", number(c.webhookPort), portSchema)
		if c.has("certManager") {
			v.add("webhook.caBundle", "Certificate authority in base64, for a certificate that is not of cert-manager.", nil, schema{"type": "string"})
		}
	}
	for _, s := range []struct{ section, group, doc string }{
		{"certManager", certGroup, "Certificates that cert-manager issues. Without it, create the Secrets yourself."},
		{"prometheus", prometheusGroup, "A ServiceMonitor for the Prometheus operator."},
		{"networkPolicy", policyGroup, "NetworkPolicies for the traffic to the manager."},
	} {
		if c.has(s.section) {
			v.section(s.section, s.doc)
			v.toggle(s.section+".enabled", "", !c.build.optional[s.group])
			if s.section == "prometheus" {
				v.add("prometheus.labels", "More labels of the ServiceMonitor, such as those that a Prometheus selects.", nil, texts)
				v.add("prometheus.annotations", "More annotations of the ServiceMonitor.", nil, texts)
			}
		}
	}
}

// isAccount reports whether an object is the service account of the manager.
func (c *chart) isAccount(o object) bool {
	return o.GetKind() == "ServiceAccount" && o.GetName() == c.names.account
}

// accountAnnotations returns the annotations that the service account has in config/default.
func (c *chart) accountAnnotations() *yaml.Node {
	for _, o := range c.build.objects {
		if annotations := o.GetAnnotations(); c.isAccount(o) && len(annotations) > 0 {
			node := &yaml.Node{}
			_ = node.Encode(annotations) // it cannot fail
			return node
		}
	}
	return nil
}

func number(digits string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: digits}
}
