package hookscaffold

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/project"
)

// parseAdmissions reads --validate KIND[:OPERATION,...] and --mutate KIND[:OPERATION,...].
func (a *optionParser) parseAdmissions() error {
	for _, webhook := range []struct {
		flag string
		list *[]Admission
	}{{"validate", &a.hook.Validate}, {"mutate", &a.hook.Mutate}} {
		for _, value := range a.Strings(webhook.flag) {
			name, operations, limited := strings.Cut(value, ":")
			k, err := a.findKind(webhook.flag, name)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(*webhook.list, func(other Admission) bool { return other.Kind == k }) {
				hint := "name it once, as in --" + webhook.flag + " " + k.Kind + ":CREATE,UPDATE"
				return fault.Usage(hint, "--%s: %s is specified twice", webhook.flag, k.Kind)
			}
			admission := Admission{Name: a.webhookName(webhook.flag, k), Kind: k}
			if limited {
				if admission.Operations, err = parseOperations(webhook.flag, value, operations); err != nil {
					return err
				}
			}
			*webhook.list = append(*webhook.list, admission)
		}
	}
	return nil
}

// parseOperations reads a list of operations, in upper or lower case. They have a fixed order; the
// default is nil.
func parseOperations(flag, value, list string) ([]string, error) {
	var given []string
	for name := range strings.SplitSeq(list, ",") {
		operation := strings.ToUpper(strings.TrimSpace(name))
		switch {
		case operation == "DELETE" && flag == "mutate":
			return nil, fault.Usage("use --validate", "--%s %s: nothing can change an object that is deleted", flag, value)
		case operation == "CONNECT":
			return nil, fault.Usage("edit the rules in the configuration of the hook", "--%s %s: CONNECT needs a subresource, such as pods/exec", flag, value)
		case !slices.Contains(allOperations, operation):
			hint := "operations are " + strings.Join(allOperations, ", ") + ", as in --validate Namespace:DELETE"
			return nil, fault.Usage(hint, "--%s %s: unknown operation %q", flag, value, name)
		case slices.Contains(given, operation):
			return nil, fault.Usage("name it once", "--%s %s: %s is specified twice", flag, value, operation)
		}
		given = append(given, operation)
	}
	sorted := slices.DeleteFunc(slices.Clone(allOperations), func(operation string) bool { return !slices.Contains(given, operation) })
	if slices.Equal(sorted, defaultOperations) {
		return nil, nil
	}
	return sorted, nil
}

var (
	allOperations     = []string{"CREATE", "UPDATE", "DELETE"}
	defaultOperations = allOperations[:2]
)

// operations returns the operations of the webhook.
func (a Admission) operations() []string {
	if len(a.Operations) > 0 {
		return a.Operations
	}
	return defaultOperations
}

// webhookName returns a name that is unique in the project and has at least three parts, as
// the API server requires: validate-secrets.my-hook.example.org
func (a *optionParser) webhookName(verb string, k Kind) string {
	parts := []string{verb + "-" + k.Resource, a.hook.Name, a.Project.Domain}
	if parts[2] == "" {
		parts[2] = a.Project.ProjectName
	}
	return strings.Join(parts, ".")
}

// parseConversions reads --convert FROM:TO. All values apply to the kind of --crd.
func (a *optionParser) parseConversions() error {
	steps, crd := a.Strings("convert"), a.String("crd")
	if len(steps) == 0 {
		if crd != "" {
			return fault.Usage("add --convert v1alpha1:v1", "--crd requires --convert")
		}
		return nil
	}
	k, err := a.conversionKind(crd)
	if err != nil {
		return err
	}
	c := Conversion{
		Name: "convert-" + k.Resource, CRD: k.Resource + "." + k.Group,
		Group: k.Group, Kind: k.Kind, Scope: scopeName(!k.Namespaced),
	}
	for _, s := range steps {
		from, to, found := strings.Cut(s, ":")
		step := Step{From: from, To: to}
		switch {
		case !found || project.CheckVersion(from) != nil || project.CheckVersion(to) != nil:
			return fault.Usage("write it as in --convert v1alpha1:v1", "--convert %s: FROM:TO is expected, with versions of the API", s)
		case from == to:
			return fault.Usage("name two versions", "--convert %s: both versions are equal", s)
		case slices.Contains(c.Steps, step):
			return fault.Usage("name it once", "--convert %s is specified twice", s)
		}
		for _, version := range []string{from, to} {
			if !slices.Contains(k.Versions, version) {
				hint := "it has " + strings.Join(k.Versions, ", ") + "; operon create api adds a version"
				return fault.Usage(hint, "--convert %s: %s has no version %s", s, c.CRD, version)
			}
		}
		c.Steps = append(c.Steps, step)
	}
	a.hook.Convert = append(a.hook.Convert, c)
	return nil
}

// scopeName returns the scope of a kind as in webhooks and CRDs: Cluster or Namespaced.
func scopeName(cluster bool) string {
	if cluster {
		return "Cluster"
	}
	return "Namespaced"
}

// conversionKind returns the kind that --crd selects by the CRD's name or by a name of the
// kind. Without --crd, exactly one kind must have several versions.
func (a *optionParser) conversionKind(crd string) (kubeapi.Kind, error) {
	var several []kubeapi.Kind
	for _, k := range a.Kinds.Preferred() {
		if _, own := kubeapi.Builtin().FindResource(k.Group, k.Resource); own {
			continue
		}
		if crd == k.String() || strings.EqualFold(crd, k.Kind) || crd == k.Resource {
			return k, nil
		}
		if len(k.Versions) > 1 {
			several = append(several, k)
		}
	}
	switch {
	case crd != "":
		return kubeapi.Kind{}, fault.Usage("create it first: operon create api", "--crd %s: there is no such CRD in %s", crd, a.CRDs)
	case len(several) == 1:
		return several[0], nil
	}
	if len(several) == 0 {
		return kubeapi.Kind{}, fault.Usage("add the second one first: operon create api --group GROUP --version VERSION --kind KIND", "--convert: no CRD in %s has more than one version", a.CRDs)
	}
	return kubeapi.Kind{}, fault.Usage("choose one: --crd "+several[0].String(), "--convert: %d CRDs in %s have more than one version", len(several), a.CRDs)
}
