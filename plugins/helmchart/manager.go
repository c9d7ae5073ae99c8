package helmchart

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The flags of the manager that other values set.
const (
	metricsFlag     = "--metrics-bind-address="
	secureFlag      = "--metrics-secure="
	probeFlag       = "--health-probe-bind-address="
	webhookPortFlag = "--webhook-port="
	webhookCertFlag = "--webhook-cert-"
	metricsCertFlag = "--metrics-cert-"
)

// defaultWebhookPort is the port of the webhook server without an argument for it.
const defaultWebhookPort = "9443"

// probePortValue is the value with the port of the probes, which values of an older chart lack.
func (c *chart) probePortValue() string {
	return "((.Values.manager.healthProbe).port | default " + c.probePort + ")"
}

// ports returns the ports of the metrics and of the webhook server, which are "" without such a server, and the port of
// the probes if an argument names it.
func (b *build) ports() (metrics, webhook, probes string) {
	for _, o := range b.objects {
		group := groupOf(o)
		switch {
		case group == webhookGroup && webhook == "":
			webhook = defaultWebhookPort
		case group == managerGroup:
			for _, arg := range items(at(o.manager, "args")) {
				if address, ok := strings.CutPrefix(arg.Value, metricsFlag); ok {
					metrics = portOf(address)
				}
				if port, ok := strings.CutPrefix(arg.Value, webhookPortFlag); ok && portOf(":"+port) != "" {
					webhook = port
				}
				if address, ok := strings.CutPrefix(arg.Value, probeFlag); ok {
					probes = portOf(address)
				}
			}
		}
	}
	return metrics, webhook, probes
}

// portOf returns the port of an address, or "" if it has none, such as 0, which switches a server off, or a variable.
func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return ""
	}
	return port
}

// insecure reports whether the arguments of the manager turn HTTPS off for metrics. The last one counts.
func (b *build) insecure() (off bool) {
	for _, o := range b.objects {
		if o.manager == nil {
			continue
		}
		for _, arg := range items(at(o.manager, "args")) {
			if value, is := strings.CutPrefix(arg.Value, secureFlag); is {
				off = value == "false"
			}
		}
	}
	return off
}

// podField is a field of the Deployment that a value replaces as a whole.
type podField struct {
	value string // its name below manager
	at    string // the mapping that has it: deployment, pod or container
	key   string
	kind  string // of its value: object, list, text or number
	doc   string
}

var podFields = []podField{
	{"resources", "container", "resources", "object", "What the container requests, and its limits."},
	{"podSecurityContext", "pod", "securityContext", "object", "Security settings of the pod."},
	{"securityContext", "container", "securityContext", "object", "Security settings of the container."},
	{"imagePullSecrets", "pod", "imagePullSecrets", "list", "Secrets for the registry of the image, such as {name: registry}."},
	{"affinity", "pod", "affinity", "object", "Rules for the nodes that run the pods."},
	{"nodeSelector", "pod", "nodeSelector", "object", "Labels of the nodes that run the pods."},
	{"tolerations", "pod", "tolerations", "list", "Taints of nodes that the pods tolerate."},
	{"topologySpreadConstraints", "pod", "topologySpreadConstraints", "list", "How the pods spread over nodes and zones."},
	{"priorityClassName", "pod", "priorityClassName", "text", "Priority of the pods."},
	{"terminationGracePeriodSeconds", "pod", "terminationGracePeriodSeconds", "number", "Seconds that a pod has to stop."},
	{"strategy", "deployment", "strategy", "object", "How an update replaces the pods."},
}

// lines returns the lines of the template for the field, which stays if it is empty in config/default.
func (f podField) lines(preset *yaml.Node) []string {
	lines := []string{"{{- with .Values.manager." + f.value + " }}", f.key + ":", "  {{- toYaml . | nindent @2 }}", "{{- end }}"}
	switch {
	case f.kind == "text": // it can look like a number
		lines = []string{lines[0], f.key + ": {{ . | quote }}", lines[3]}
	case f.kind == "number": // 0 is a value, too, and Helm reads large numbers as floats
		lines = []string{"{{- if not (kindIs \"invalid\" .Values.manager." + f.value + ") }}", f.key + ": {{ int64 .Values.manager." + f.value + " }}", "{{- end }}"}
	case preset != nil && preset.Kind != yaml.ScalarNode && len(preset.Content) == 0:
		empty := map[yaml.Kind]string{yaml.MappingNode: ": {}", yaml.SequenceNode: ": []"}[preset.Kind]
		lines = slices.Insert(lines, 3, "{{- else }}", f.key+empty)
	}
	return lines
}

// deployment turns the Deployment of the manager into a template, and returns the values below manager.
func (c *chart) deployment(root, container *yaml.Node, t *text) {
	pod, spec := at(root, "spec", "template", "spec"), at(root, "spec")
	c.replicas(spec, t)
	c.image(container, t)
	c.arguments(container, t)
	c.environment(container, t)
	for _, f := range podFields {
		mapping := map[string]*yaml.Node{"container": container, "pod": pod, "deployment": spec}[f.at]
		preset := at(mapping, f.key)
		c.values.add("manager."+f.value, f.doc, preset, f.schema())
		t.replace(mapping, f.key, f.lines(preset)...)
	}
	c.values.add("manager.extraVolumes", "More volumes of the pods.", nil, schema{"type": "array", "items": schema{"type": "object"}})
	c.values.add("manager.extraVolumeMounts", "More mounts of the container.", nil, schema{"type": "array", "items": schema{"type": "object"}})
	c.mounts(container, pod, t)
	c.probes(container, t)
	c.metadata(root, t)
}

// probes lets a value choose the port of the probes.
func (c *chart) probes(container *yaml.Node, t *text) {
	if c.probePort == "" {
		return
	}
	c.values.section("manager.healthProbe", "The liveness and readiness probes.")
	c.values.add("manager.healthProbe.port", "Port of the manager for them.", number(c.probePort), portSchema)
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		for _, action := range []string{"httpGet", "tcpSocket"} {
			c.port(at(container, probe, action, "port"), t)
		}
	}
}

// metadata adds the labels and annotations of users to the Deployment and to its pods.
func (c *chart) metadata(root *yaml.Node, t *text) {
	c.values.add("manager.labels", "More labels of the Deployment.", nil, texts)
	c.values.add("manager.annotations", "More annotations of the Deployment.", nil, texts)
	c.values.section("manager.pod", "")
	c.values.add("manager.pod.labels", "More labels of the pods.", nil, texts)
	c.values.add("manager.pod.annotations", "More annotations of the pods.", nil, texts)
	for _, key := range []string{"labels", "annotations"} {
		t.extend(at(root, "metadata"), key, ".Values.manager."+key)
		t.extend(at(root, "spec", "template", "metadata"), key, "(.Values.manager.pod)."+key) // values of an older chart lack it
	}
}

func (c *chart) replicas(spec *yaml.Node, t *text) {
	const doc = "Number of pods. With leader election, one is active and the others are on standby."
	count := at(spec, "replicas")
	if count == nil { // an autoscaler decides
		f := podField{value: "replicas", key: "replicas", kind: "number"}
		c.values.add("manager.replicas", doc, nil, f.schema())
		t.replace(spec, "replicas", f.lines(nil)...)
		return
	}
	c.values.add("manager.replicas", doc, count, schema{"type": "integer", "minimum": 0})
	t.replace(spec, "replicas", "replicas: {{ int64 .Values.manager.replicas }}")
}
