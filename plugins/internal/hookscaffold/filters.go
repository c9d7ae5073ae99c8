package hookscaffold

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"
)

// filter is a flag that refines bindings.
type filter struct {
	flag        string
	setObjects  func(o *Objects, value string) error
	setSchedule func(s *Schedule, value string) // nil: schedules do not have it
}

// parseFilters reads the flags that refine bindings. A value can start with the name of a
// binding and a colon. Otherwise it applies to all bindings.
func (a *optionParser) parseFilters() error {
	for _, f := range []filter{
		{flag: "namespace", setObjects: addNamespaces},
		{flag: "name", setObjects: addObjectNames},
		{flag: "selector", setObjects: setSelector},
		{flag: "field-selector", setObjects: a.setFieldSelector},
		{flag: "jq", setObjects: func(o *Objects, v string) error { return setOnce("jq", &o.JQ, v) }},
		{flag: "events", setObjects: addEvents},
		{flag: "group", setObjects: func(o *Objects, v string) error { return setOnce("group", &o.Group, v) },
			setSchedule: func(s *Schedule, v string) { s.Group = v }},
		{flag: "queue", setObjects: func(o *Objects, v string) error { return setOnce("queue", &o.Queue, v) },
			setSchedule: func(s *Schedule, v string) { s.Queue = v }},
	} {
		for _, given := range a.Strings(f.flag) {
			if err := a.applyFilter(f, given); err != nil {
				return err
			}
		}
	}
	return a.checkGroups()
}

// applyFilter applies one value of a filter to its binding, or to all bindings.
func (a *optionParser) applyFilter(f filter, given string) error {
	name, value := a.splitBinding(given)
	if value == "" {
		return errEmpty(f.flag, given)
	}
	if err := a.checkUnknownBinding(f.flag, name, value); err != nil {
		return err
	}
	applied := false
	for i := range a.hook.Kubernetes {
		if o := &a.hook.Kubernetes[i]; name == "" || name == o.Name {
			applied = true
			if err := f.setObjects(o, value); err != nil {
				return err
			}
		}
	}
	bindings := "--on"
	if f.setSchedule != nil {
		bindings += " and --schedule"
		for i := range a.hook.Schedule {
			if s := &a.hook.Schedule[i]; name == "" || name == s.Name {
				applied = true
				f.setSchedule(s, value)
			}
		}
	}
	if !applied {
		return fault.Usage("it is for bindings of "+bindings, "--%s %s has no effect here", f.flag, value)
	}
	return nil
}

func addNamespaces(o *Objects, value string) error {
	if o.ClusterScoped {
		return fault.Usage("omit it, or name a binding: --namespace BINDING:NAME", "--namespace %s: %s is cluster-scoped", value, o.Kind.Kind)
	}
	return addNames(&o.Namespaces, "namespace", value, "a namespace", validation.IsDNS1123Label)
}

func addObjectNames(o *Objects, value string) error {
	return addNames(&o.Names, "name", value, article(o.Kind.Kind)+" "+o.Kind.Kind, o.nameProblems)
}

func setSelector(o *Objects, value string) error {
	if _, err := labelSelector(value); err != nil {
		return fault.Usage("write it as for kubectl: app=web,tier in (a,b),!legacy", "--selector %s: %v", value, err)
	}
	return setOnce("selector", &o.Selector, value)
}

func (a *optionParser) setFieldSelector(o *Objects, value string) error {
	s, err := fields.ParseSelector(value)
	if err != nil {
		return fault.Usage("write it as for kubectl: status.phase=Running", "--field-selector %s: %v", value, err)
	}
	for _, r := range s.Requirements() {
		if problem := a.Kinds.CannotSelect(o.APIVersion, o.Kind.Kind, r.Field); problem != "" {
			return fault.Usage("use --jq to select fields of an object", "--field-selector %s: %s", value, problem)
		}
	}
	return setOnce("field-selector", &o.FieldSelector, value)
}

// errEmpty returns the error for a flag without a value, or with only the name of a
// binding.
func errEmpty(flag, given string) error {
	return fault.Usage("give it a value, or omit it", "%s is empty", strings.TrimSpace("--"+flag+" "+given))
}

// setOnce sets a property that a binding can have only once.
func setOnce(flag string, to *string, value string) error {
	if *to != "" {
		return fault.Usage("give one, or one for each binding: --"+flag+" BINDING:VALUE", "--%s %s: the binding already has %s", flag, value, *to)
	}
	*to = value
	return nil
}

// addNames adds the names of a comma-separated list. Each must be a valid name for what.
func addNames(to *[]string, flag, list, what string, problems func(string) []string) error {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			return fault.Usage("write it as in --"+flag+" one,other", "--%s %s: a name between commas is missing", flag, list)
		}
		if found := problems(name); len(found) > 0 {
			problem, _, _ := strings.Cut(found[0], " (e.g.") // omits the regular expression
			return fault.Usage("names are in lower case, such as --"+flag+" my-name", "--%s %s is not the name of %s: %s", flag, name, what, problem)
		}
		if !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	return nil
}

// nameProblems returns why name is not a valid object name for the kind. RBAC kinds accept
// almost any name, such as system:node.
func (k Kind) nameProblems(name string) []string {
	if strings.HasPrefix(k.APIVersion, "rbac.authorization.k8s.io/") {
		return content.IsPathSegmentName(name)
	}
	return validation.IsDNS1123Subdomain(name)
}

// labelSelector parses a selector in kubectl's syntax. Hook configurations do not support !=,
// so it returns an equivalent requirement.
func labelSelector(text string) (*metav1.LabelSelector, error) {
	requirements, err := labels.ParseToRequirements(text)
	if err != nil {
		return nil, err
	}
	selector := labels.NewSelector()
	for _, r := range requirements {
		if r.Operator() == selection.NotEquals {
			same, err := labels.NewRequirement(r.Key(), selection.NotIn, r.ValuesUnsorted())
			if err != nil {
				return nil, err
			}
			r = *same
		}
		selector = selector.Add(r)
	}
	return metav1.ParseToLabelSelector(selector.String())
}

// splitBinding splits a value into the name of a binding and the rest, without
// surrounding spaces.
func (a *optionParser) splitBinding(value string) (binding, rest string) {
	if name, rest, found := strings.Cut(value, ":"); found && slices.Contains(a.bindings(), strings.TrimSpace(name)) {
		return strings.TrimSpace(name), strings.TrimSpace(rest)
	}
	return "", strings.TrimSpace(value)
}

// checkUnknownBinding rejects a value for a binding that does not exist. Names of roles can
// contain a colon, too.
func (a *optionParser) checkUnknownBinding(flag, name, value string) error {
	before, _, colon := strings.Cut(value, ":")
	isRBAC := func(o Objects) bool { return strings.HasPrefix(o.APIVersion, "rbac.authorization.k8s.io/") }
	roles := slices.ContainsFunc(a.hook.Kubernetes, isRBAC)
	if name != "" || !colon || !bindingName().MatchString(before) || flag == "name" && roles {
		return nil
	}
	return fault.Usage("the bindings are "+strings.Join(a.bindings(), ", "), "--%s %s: there is no binding %s", flag, value, before)
}

// events are the valid values of --events.
var events = []string{"Added", "Modified", "Deleted"}

const noEvents = "none"

func addEvents(o *Objects, value string) error {
	for word := range strings.SplitSeq(value, ",") {
		word = strings.TrimSpace(word)
		i := slices.IndexFunc(events, func(e string) bool { return strings.EqualFold(e, word) })
		switch {
		case strings.EqualFold(word, noEvents) && value == word:
			word = noEvents
		case i < 0:
			hint := "valid values: " + strings.Join(events, ", ") + "; or " + noEvents + " for a snapshot only"
			return fault.Usage(hint, "--events %s: there is no event %s", value, word)
		default:
			word = events[i]
		}
		if !slices.Contains(o.Events, word) {
			o.Events = append(o.Events, word)
		}
	}
	return nil
}

// checkGroups rejects group names that cannot be function names, and groups with members in
// different queues.
func (a *optionParser) checkGroups() error {
	queues := map[string]string{}
	check := func(group, queue string) error {
		if group == "" {
			return nil
		}
		if !bindingName().MatchString(group) {
			return fault.Usage("use lower-case letters, digits, '_' and '-'", "--group %s is not a valid name", group)
		}
		if first, known := queues[group]; known && first != queue {
			return fault.Usage("give all of them the same --queue", "the bindings in group %s have different queues", group)
		}
		queues[group] = queue
		return nil
	}
	for _, k := range a.hook.Kubernetes {
		if err := check(k.Group, k.Queue); err != nil {
			return err
		}
	}
	for _, s := range a.hook.Schedule {
		if err := check(s.Group, s.Queue); err != nil {
			return err
		}
	}
	return nil
}
