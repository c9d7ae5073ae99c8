package helmchart

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// image turns the image into a repository, and a tag or a digest.
func (c *chart) image(container *yaml.Node, t *text) {
	repository, tag := splitImage(valueAt(container, "image"))
	policy := scalar(valueAt(container, "imagePullPolicy"))
	policy.Style = yaml.DoubleQuotedStyle
	c.version = tag
	c.values.add("manager.image.repository", "Image of the manager, without a tag.",
		scalar(repository), schema{"type": "string", "minLength": 1})
	c.values.add("manager.image.tag", "Tag of the image, or its digest (sha256:...). Without one, the tag is the appVersion of the chart.", quoted(tag), schema{"type": "string"})
	c.values.add("manager.image.pullPolicy", "When nodes pull the image. Empty: the default of Kubernetes.", policy, schema{"enum": []string{"", "Always", "IfNotPresent", "Never"}})
	t.replace(container, "image", `image: {{ include "`+c.name+`.image" . | quote }}`)
	t.replace(container, "imagePullPolicy", "{{- with .Values.manager.image.pullPolicy }}", "imagePullPolicy: {{ . }}", "{{- end }}")
}

// splitImage returns the repository of an image, and its tag or digest.
func splitImage(image string) (repository, tag string) {
	if name, digest, ok := strings.Cut(image, "@"); ok {
		return name, digest
	}
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		return image[:colon], image[colon+1:]
	}
	return image, "latest"
}

func quoted(value string) *yaml.Node {
	n := scalar(value)
	n.Style = yaml.DoubleQuotedStyle
	return n
}

// arguments moves the arguments of the manager to the values, except those that other values set.
func (c *chart) arguments(container *yaml.Node, t *text) {
	args := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	free := scalar(t.block("{{- range .Values.manager.args }}", "- {{ tpl . $ | quote }}", "{{- end }}"))
	var content []*yaml.Node
	hasWebhookPort := false
	conditional := func(condition string, item ...*yaml.Node) {
		content = append(content, scalar(t.block("{{- if "+condition+" }}")))
		content = append(append(content, item...), scalar(t.block("{{- end }}")))
	}
	for _, arg := range items(at(container, "args")) {
		flag := arg.Value
		switch {
		case strings.HasPrefix(flag, metricsFlag) && strings.HasSuffix(flag, ":"+c.metricsPort) && c.has("metrics"):
			arg.Value = strings.TrimSuffix(flag, c.metricsPort) + t.action("int64 .Values.metrics.port")
			conditional(".Values.metrics.enabled", arg)
		case flag == secureFlag+"true" && c.has("metrics"):
			conditional("and .Values.metrics.enabled .Values.metrics.secure", arg)
		case flag == secureFlag+"false" && c.has("metrics"):
		case flag == webhookPortFlag+c.webhookPort && c.has("webhook"):
			hasWebhookPort = true
			arg.Value = webhookPortFlag + t.action("int64 .Values.webhook.port")
			conditional(".Values.webhook.enabled", arg)
		case strings.HasPrefix(flag, metricsCertFlag) && c.has("metrics"):
			conditional(c.when("metrics.enabled", "certManager.enabled"), arg)
		case strings.HasPrefix(flag, webhookCertFlag) && c.has("webhook"):
			conditional(".Values.webhook.enabled", arg)
		case strings.HasPrefix(flag, probeFlag): // the probes need it
			if before, is := strings.CutSuffix(flag, ":"+c.probePort); is && c.probePort != "" {
				arg.Value = before + ":" + t.action("int64 %s", c.probePortValue())
			}
			content = append(content, arg)
		default:
			arg.Value = strings.ReplaceAll(flag, "{{", `{{ "{{" }}`) // values can be templates
			args.Content = append(args.Content, arg)
			if len(args.Content) == 1 {
				content = append(content, free)
			}
		}
	}
	if len(args.Content) == 0 {
		content = append(content, free)
	}
	if c.has("metrics") {
		conditional("and .Values.metrics.enabled (not .Values.metrics.secure)", scalar("--metrics-secure=false"))
	}
	if c.has("webhook") && !hasWebhookPort {
		condition := `and .Values.webhook.enabled (ne (int64 .Values.webhook.port) ` + defaultWebhookPort + `)`
		conditional(condition, scalar(webhookPortFlag+t.action("int64 .Values.webhook.port")))
	}
	c.values.add("manager.args", "Arguments of the manager, which can be templates. Those for metrics, probes and webhooks follow from the other values.", args, schema{"type": "array", "items": schema{"type": "string"}})
	setContent(container, "args", content)
}

// setContent sets the items of a list.
func setContent(mapping *yaml.Node, key string, content []*yaml.Node) {
	list := at(mapping, key)
	if list == nil {
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		mapping.Content = append(mapping.Content, scalar(key), list)
	}
	list.Content, list.Style = content, 0
}

// environment moves the variables with plain values to the values of the chart. Others are part of the design of
// the manager.
func (c *chart) environment(container *yaml.Node, t *text) {
	env := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	overridden := func(name string) string { return "(hasKey $overrides " + name + ")" }
	free := scalar(t.block("{{- range .Values.manager.env }}", "{{- if not "+overridden(".name")+" }}",
		"- {{ toYaml . | nindent @2 | trim }}", "{{- end }}", "{{- end }}"))
	// Variables that others refer to must come before them. Helm reads numbers as floats.
	content := []*yaml.Node{scalar(t.block("{{- $overrides := .Values.manager.envOverrides | default dict }}",
		"{{- range $name, $value := $overrides }}", "- name: {{ $name }}",
		`  value: {{ ternary (int64 $value) $value (kindIs "float64" $value) | quote }}`, "{{- end }}"))}
	for _, variable := range items(at(container, "env")) {
		if value := at(variable, "value"); value == nil || strings.Contains(value.Value, "$(") {
			kept := scalar(t.block("{{- if not " + overridden(strconv.Quote(valueAt(variable, "name"))) + " }}"))
			content = append(content, kept, variable, scalar(t.block("{{- end }}")))
			continue
		}
		env.Content = append(env.Content, variable)
		if len(env.Content) == 1 {
			content = append(content, free)
		}
	}
	if len(env.Content) == 0 {
		content = append(content, free)
	}
	designed := len(content) > 2 // more than the overrides and free
	some := "or .Values.manager.env .Values.manager.envOverrides"
	if c.has("webhook") {
		some += " (not .Values.webhook.enabled)"
		content = append(content, scalar(t.block("{{- if not (or .Values.webhook.enabled "+overridden(`"ENABLE_WEBHOOKS"`)+") }}",
			"- name: ENABLE_WEBHOOKS", `  value: "false"`, "{{- end }}")))
	}
	c.values.add("manager.env", "Environment variables of the manager, such as {name: LEVEL, value: debug}.", env, schema{"type": "array", "items": schema{"type": "object", "required": []string{"name"}}})
	c.values.add("manager.envOverrides", "Values of variables by their names, instead of those above and of the template.", nil,
		schema{"type": "object", "additionalProperties": schema{"type": []string{"string", "integer", "boolean"}}})
	setContent(container, "env", content)
	if !designed {
		t.conditional(container, "env", some)
	}
}

// mounts makes volumes and ports depend on the servers that they are for.
func (c *chart) mounts(container, pod *yaml.Node, t *text) {
	condition := func(item *yaml.Node) string {
		name := valueAt(item, "name")
		switch {
		case strings.HasPrefix(name, "webhook-cert"):
			return c.when("webhook.enabled")
		case strings.HasPrefix(name, "metrics-cert"):
			return c.when("metrics.enabled", "certManager.enabled")
		}
		return ""
	}
	t.items(container, "volumeMounts", ".Values.manager.extraVolumeMounts", condition)
	t.items(pod, "volumes", ".Values.manager.extraVolumes", condition)
	for _, port := range items(at(container, "ports")) {
		c.port(at(port, "containerPort"), t)
	}
	t.items(container, "ports", "", func(item *yaml.Node) string {
		if strings.HasPrefix(valueAt(item, "name"), "webhook") {
			return c.when("webhook.enabled")
		}
		return ""
	})
}

// port replaces the number of a port of the manager by the value of the chart.
func (c *chart) port(number *yaml.Node, t *text) {
	if number == nil || number.Tag != "!!int" {
		return
	}
	if i := slices.Index([]string{c.metricsPort, c.webhookPort, c.probePort}, number.Value); i >= 0 && number.Value != "" {
		number.Value = t.action("int64 %s", []string{".Values.metrics.port", ".Values.webhook.port", c.probePortValue()}[i])
		number.Tag, number.Style = "!!str", 0
	}
}
