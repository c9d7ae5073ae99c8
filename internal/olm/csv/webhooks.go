package csv

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
)

const admission = "admissionregistration.k8s.io"

// webhook is a webhook of the ClusterServiceVersion.
type webhook struct {
	entry    map[string]any
	workload *workload
	service  *object
}

// admissionFields are the fields that webhook configurations and ClusterServiceVersions
// share.
var admissionFields = []string{
	"rules", "failurePolicy", "matchPolicy", "objectSelector",
	"sideEffects", "timeoutSeconds", "admissionReviewVersions", "reinvocationPolicy",
}

// webhooks puts webhook configurations and the conversion of CRDs into the
// ClusterServiceVersion.
func (g *generator) webhooks() {
	for _, kind := range []string{"Validating", "Mutating"} {
		for _, o := range g.of(admission, kind+"WebhookConfiguration") {
			o.inCSV()
			for _, w := range jsonvalue.Maps(o.Object.Object, "webhooks") {
				g.admissionWebhook(o, kind+"AdmissionWebhook", w)
			}
		}
	}
	g.conversions()
	key := func(w *webhook) string {
		field := func(name string) string { return jsonvalue.String(w.entry, name) }
		return field("generateName") + "\n" + field("type") + "\n" + field("webhookPath")
	}
	slices.SortStableFunc(g.served, func(a, b *webhook) int { return cmp.Compare(key(a), key(b)) })
	var entries []any
	for _, w := range g.served {
		entries = append(entries, w.entry)
	}
	setList(jsonvalue.EnsureMap(g.csv, "spec"), "webhookdefinitions", entries)
	g.leaveOutServices()
}

// leaveOutServices leaves out the Services that only the API server calls, because OLM makes its own. A Service with
// other ports, of another type, or that another object names stays.
func (g *generator) leaveOutServices() {
	called := map[*object][]int64{}
	for _, w := range g.served {
		called[w.service] = append(called[w.service], jsonvalue.Int(w.entry, "containerPort"))
	}
	for service, ports := range called {
		other := func(p map[string]any) bool { return !slices.Contains(ports, jsonvalue.Int(p, "port")) }
		kind := cmp.Or(jsonvalue.String(service.Object.Object, "spec", "type"), "ClusterIP")
		if kind == "ClusterIP" && !g.isNamed(service) && !slices.ContainsFunc(jsonvalue.Maps(service.Object.Object, "spec", "ports"), other) {
			service.leaveOut("OLM makes the Service of webhooks")
		}
	}
}

func (g *generator) admissionWebhook(o *object, as string, w map[string]any) {
	name := jsonvalue.String(w, "name")
	entry := map[string]any{"type": as, "generateName": name, "sideEffects": "None"}
	for _, field := range admissionFields {
		if v, ok := w[field]; ok {
			entry[field] = v
		}
	}
	for _, field := range []string{"namespaceSelector", "matchConditions"} {
		if w[field] != nil {
			g.warn(o, "webhook-field", "OLM ignores the "+field+" of the webhook "+name+": it selects the namespaces of the OperatorGroup")
		}
	}
	g.serve(o, "the webhook "+name, jsonvalue.Map(w, "clientConfig"), entry)
}

// serve adds a webhook whose server a Deployment of the operator runs.
func (g *generator) serve(o *object, what string, client, entry map[string]any) {
	ref := jsonvalue.Map(client, "service")
	if ref == nil {
		g.refuse(o, "call it through a Service of the operator", "%s of %s is called at a URL, and OLM calls only Deployments of the operator", what, o)
		return
	}
	name := jsonvalue.String(ref, "name")
	services := g.of("", "Service")
	i := slices.IndexFunc(services, func(s *object) bool {
		namespace := jsonvalue.String(ref, "namespace")
		return s.GetName() == name && (namespace == s.GetNamespace() || s.GetNamespace() == "" || namespace == "")
	})
	if i < 0 {
		g.refuse(o, "add the Service, as config/webhook/service.yaml has it", "%s of %s is called through the Service %s, which the manifests do not have", what, o, name)
		return
	}
	service := services[i]
	j := slices.IndexFunc(g.workloads, func(w *workload) bool { return w.selectedBy(service) })
	if j < 0 {
		g.refuse(o, "give the pods of the manager the labels in the selector of the Service", "no Deployment runs %s: the Service %s selects no pods of one", what, name)
		return
	}
	port := cmp.Or(jsonvalue.Int(ref, "port"), 443)
	ports := jsonvalue.Maps(service.Object.Object, "spec", "ports")
	k := slices.IndexFunc(ports, func(p map[string]any) bool { return jsonvalue.Int(p, "port") == port })
	if k < 0 {
		g.refuse(o, "use a port of the Service", "%s of %s is called at port %d, which the Service %s does not have", what, o, port, name)
		return
	}
	entry["containerPort"] = port
	entry["targetPort"] = cmp.Or[any](ports[k]["targetPort"], port)
	entry["deploymentName"] = g.workloads[j].GetName()
	if path := jsonvalue.String(ref, "path"); path != "" {
		entry["webhookPath"] = path
	}
	g.served = append(g.served, &webhook{entry, g.workloads[j], service})
}

// isNamed reports whether an object names a Service, as a text or, as Deployments do, in the name of a host. Webhooks do
// not count, and neither do the certificates that the bundle leaves out.
func (g *generator) isNamed(service *object) bool {
	name := service.GetName()
	return slices.ContainsFunc(g.objects, func(o *object) bool {
		if o == service || o.group() == admission || o.group() == extensions || o.group() == certManager {
			return false
		}
		isWorkload := o.GetKind() == "Deployment"
		return hasText(o.Object.Object, func(s string) bool {
			host := strings.HasPrefix(s, name+".") || strings.Contains(s, "/"+name+".") || strings.Contains(s, "/"+name+":")
			return host || s == name && !isWorkload
		})
	})
}

// conversions adds one webhook for all CRDs that are converted at the same address. OLM applies the CRDs before it
// sets their conversion: until then, one that is there would point to a Service that OLM does not make.
func (g *generator) conversions() {
	type address struct {
		service, path string
		port          int64
	}
	groups := map[address][]*object{}
	var order []address
	for _, crd := range g.crds() {
		if jsonvalue.String(crd.Object.Object, "spec", "conversion", "strategy") != "Webhook" {
			continue
		}
		ref := jsonvalue.Map(crd.Object.Object, "spec", "conversion", "webhook", "clientConfig", "service")
		a := address{jsonvalue.String(ref, "name"), jsonvalue.String(ref, "path"), jsonvalue.Int(ref, "port")}
		if groups[a] == nil {
			order = append(order, a)
		}
		groups[a] = append(groups[a], crd)
	}
	for _, a := range order {
		crds := groups[a]
		slices.SortFunc(crds, func(a, b *object) int { return cmp.Compare(a.GetName(), b.GetName()) })
		var names []any
		var plurals strings.Builder
		for _, crd := range crds {
			names = append(names, crd.GetName())
			plural, _, _ := strings.Cut(crd.GetName(), ".")
			plurals.WriteString(plural)
		}
		hook := jsonvalue.Map(crds[0].Object.Object, "spec", "conversion", "webhook")
		g.serve(crds[0], "the conversion", jsonvalue.Map(hook, "clientConfig"), map[string]any{
			"type": "ConversionWebhook", "generateName": "c" + plurals.String() + ".kb.io", "sideEffects": "None",
			"admissionReviewVersions": hook["conversionReviewVersions"], "conversionCRDs": names,
		})
		for _, crd := range crds {
			delete(jsonvalue.Map(crd.Object.Object, "spec"), "conversion")
		}
	}
}

// converts reports whether OLM has to install a conversion webhook.
func (g *generator) converts() bool {
	return slices.ContainsFunc(g.served, func(w *webhook) bool { return w.entry["type"] == "ConversionWebhook" })
}
