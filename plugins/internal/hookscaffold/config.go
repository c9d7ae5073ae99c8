package hookscaffold

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/config"
	"k8s.io/apimachinery/pkg/fields"
)

// leastFilter is the default jqFilter for Secrets and for kinds with very many objects: no
// data, only the fields that show a change.
const leastFilter = "{namespace: .metadata.namespace, name: .metadata.name, resourceVersion: .metadata.resourceVersion}"

// filter returns the jqFilter of a binding, or "".
func (o Objects) filter() string {
	everywhere := len(o.Namespaces)+len(o.Names) == 0 && o.Selector == "" && o.FieldSelector == ""
	secrets := o.APIVersion == "v1" && o.Resource == "secrets"
	if o.JQ == "" && everywhere && (secrets || config.IsNumerous(o.APIVersion, o.Kind.Kind)) {
		return leastFilter
	}
	return o.JQ
}

// snapshotOnly reports whether the binding only provides a snapshot for other bindings.
func (o Objects) snapshotOnly() bool { return slices.Contains(o.Events, noEvents) }

// triggersOn reports whether the event runs the hook.
func (o Objects) triggersOn(event string) bool {
	return len(o.Events) == 0 || slices.Contains(o.Events, event)
}

// page builds a YAML document.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { _, _ = fmt.Fprintf(p, format+"\n", args...) }

// text adds a key with a string, unless the string is empty.
func (p *page) text(key, value string) {
	if value != "" {
		p.line("  %s: %s", key, yamledit.Scalar(value))
	}
}

// list adds a key with a list, unless the list is empty.
func (p *page) list(indent, key string, values []string) {
	if len(values) == 0 {
		return
	}
	items := make([]string, len(values))
	for i, v := range values {
		items[i] = yamledit.Scalar(v)
		if strings.ContainsAny(v, ",[]{}") {
			items[i] = jsonString(v)
		}
	}
	p.line("%s%s: [%s]", indent, key, strings.Join(items, ", "))
}

// Config returns the configuration that the hook prints when it is called with --config.
func (h Hook) Config(owner config.Owner) (string, error) {
	p := &page{}
	p.line("configVersion: v1")
	if h.Startup != nil {
		p.line("onStartup: %d", *h.Startup)
	}
	for _, step := range owner.Steps() {
		if order, bound := h.Steps[step]; bound {
			p.line("%s: %d", step, order)
		}
	}
	if len(h.Kubernetes) > 0 {
		p.line("kubernetes:")
	}
	for _, o := range h.Kubernetes {
		if err := p.objects(o); err != nil {
			return "", err
		}
	}
	if len(h.Schedule) > 0 {
		p.line("schedule:")
	}
	for _, s := range h.Schedule {
		p.line("- name: %s", yamledit.Scalar(s.Name))
		p.line("  crontab: %s", jsonString(s.Crontab))
		p.text("group", s.Group)
		p.text("queue", s.Queue)
		if s.Group == "" {
			p.list("  ", "includeSnapshotsFrom", h.snapshots())
		}
	}
	h.webhooks(p, "kubernetesValidating", h.Validate)
	h.webhooks(p, "kubernetesMutating", h.Mutate)
	if len(h.Convert) > 0 {
		p.line("kubernetesCustomResourceConversion:")
	}
	for _, c := range h.Convert {
		p.line("- name: %s", yamledit.Scalar(c.Name))
		p.line("  crdName: %s", yamledit.Scalar(c.CRD))
		p.list("  ", "includeSnapshotsFrom", h.snapshots())
		p.line("  conversions:")
		for _, s := range c.Steps {
			p.line("  - fromVersion: %s", yamledit.Scalar(c.Group+"/"+s.From))
			p.line("    toVersion: %s", yamledit.Scalar(c.Group+"/"+s.To))
		}
	}
	return p.String(), h.validate(owner, p.String())
}

// snapshots returns the bindings whose objects other handlers of the hook may need.
func (h Hook) snapshots() []string {
	var names []string
	for _, o := range h.Kubernetes {
		names = append(names, o.Name)
	}
	return names
}

func (p *page) objects(o Objects) error {
	p.line("- name: %s", yamledit.Scalar(o.Name))
	p.line("  apiVersion: %s", yamledit.Scalar(o.APIVersion))
	p.line("  kind: %s", yamledit.Scalar(o.Kind.Kind))
	if len(o.Names) > 0 {
		p.line("  nameSelector:")
		p.list("    ", "matchNames", o.Names)
	}
	if err := p.labels(o.Selector); err != nil {
		return err
	}
	if err := p.fields(o.FieldSelector); err != nil {
		return err
	}
	if len(o.Namespaces) > 0 {
		p.line("  namespace:\n    nameSelector:")
		p.list("      ", "matchNames", o.Namespaces)
	}
	if o.filter() != "" {
		p.text("jqFilter", o.filter())
		p.line("  # Contexts have filterResult but no object.")
		p.line("  keepFullObjectsInMemory: false")
	}
	switch {
	case o.snapshotOnly():
		p.line("  # Only a snapshot for other bindings: these objects do not trigger the hook.")
		p.line("  executeHookOnSynchronization: false\n  executeHookOnEvent: []")
	default:
		p.list("  ", "executeHookOnEvent", o.Events)
	}
	p.text("group", o.Group)
	p.text("queue", o.Queue)
	return nil
}

func (p *page) labels(selector string) error {
	if selector == "" {
		return nil
	}
	s, err := labelSelector(selector)
	if err != nil {
		return fault.Usage("write it as for kubectl, such as app=web", "--selector %s: %v", selector, err)
	}
	p.line("  labelSelector:")
	if len(s.MatchLabels) > 0 {
		p.line("    matchLabels:")
	}
	for _, key := range sorted(s.MatchLabels) {
		p.line("      %s: %s", yamledit.Scalar(key), yamledit.Scalar(s.MatchLabels[key]))
	}
	if len(s.MatchExpressions) > 0 {
		p.line("    matchExpressions:")
	}
	for _, e := range s.MatchExpressions {
		p.line("    - key: %s", yamledit.Scalar(e.Key))
		p.line("      operator: %s", e.Operator)
		p.list("      ", "values", e.Values)
	}
	return nil
}

func (p *page) fields(selector string) error {
	if selector == "" {
		return nil
	}
	s, err := fields.ParseSelector(selector)
	if err != nil {
		return fault.Usage("write it as for kubectl, such as metadata.name=web", "--field-selector %s: %v", selector, err)
	}
	p.line("  fieldSelector:\n    matchExpressions:")
	for _, r := range s.Requirements() {
		operator := "Equals"
		if r.Operator == "!=" {
			operator = "NotEquals"
		}
		p.line("    - field: %s", yamledit.Scalar(r.Field))
		p.line("      operator: %s", operator)
		p.line("      value: %s", jsonString(r.Value))
	}
	return nil
}

func (h Hook) webhooks(p *page, key string, list []Admission) {
	if len(list) > 0 {
		p.line("%s:", key)
	}
	for _, a := range list {
		group, version := a.groupVersion()
		p.line("- name: %s", yamledit.Scalar(a.Name))
		p.list("  ", "includeSnapshotsFrom", h.snapshots())
		p.line("  rules:\n  - apiGroups: [%s]", jsonString(group))
		p.list("    ", "apiVersions", []string{version})
		p.list("    ", "resources", []string{a.Resource})
		p.list("    ", "operations", a.operations())
		p.line("    scope: %s", scopeName(a.ClusterScoped))
	}
}

// groupVersion splits an apiVersion.
func (k Kind) groupVersion() (group, version string) {
	if group, version, found := strings.Cut(k.APIVersion, "/"); found {
		return group, version
	}
	return "", k.APIVersion
}

// validate rejects a configuration that the engine would reject, and one for which `operon
// hooks validate` would report a finding.
func (h Hook) validate(owner config.Owner, text string) error {
	_, findings := owner.Parse([]byte(text))
	if len(findings) == 0 {
		return nil
	}
	return fault.Usage("the configuration of the hook would be invalid; see `operon hooks validate --help`",
		"hook %s: %s [%s]", h.Name, findings[0].Message, findings[0].Rule)
}

// jsonString returns s as a JSON string, which is also valid YAML.
func jsonString(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // cannot happen: each string has a JSON form
		return s
	}
	return string(b)
}
