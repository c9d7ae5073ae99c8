package rbac

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/lazyregexp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-tools/pkg/rbac"
)

// problem is a mistake in a marker, and how to solve it.
type problem struct{ hint, message string }

var (
	versionLike  = lazyregexp.New(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
	resourceLike = lazyregexp.New(`^(\*|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)(/(\*|[-a-z0-9]+))?$`)
)

// verbs are the verbs of requests for objects, and the verbs that API servers define for certain resources.
var verbs = strings.Fields("* get list watch create update patch delete deletecollection proxy bind escalate impersonate approve sign attest use")

// checkRule returns what is wrong with a marker that parses, if anything.
func checkRule(r rbac.Rule, known *kubeapi.Kinds) problem {
	switch {
	case len(r.Verbs) == 0:
		return problem{"such as verbs=get;list", "the marker names no verbs, so it allows nothing"}
	case len(r.URLs) == 0 && len(r.Resources) == 0:
		return problem{"add resources= and groups=, or urls=", "the marker names no resources, so it allows nothing"}
	case len(r.Resources) > 0 && len(r.Groups) == 0:
		return problem{`groups="" is the core group`, "the marker names no groups, so it allows nothing"}
	case len(r.URLs) > 0 && r.Namespace != "":
		return problem{"remove namespace=", "URLs are in no namespace, so the marker allows nothing"}
	}
	for _, g := range r.Groups {
		if wrong := checkGroup(g); wrong.message != "" {
			return wrong
		}
	}
	for _, verb := range r.Verbs {
		if near := fault.Nearest(verb, verbs); near != "" && !slices.Contains(verbs, verb) {
			return problem{"did you mean " + near + "?", fmt.Sprintf("there is no verb %q", verb)}
		}
	}
	for _, resource := range r.Resources {
		if wrong := checkResource(resource, r, cmp.Or(known, kubeapi.Builtin())); wrong.message != "" {
			return wrong
		}
	}
	if slices.Contains(r.Groups, rbacv1.GroupName) && slices.ContainsFunc(r.Resources, isBinding) &&
		(slices.Contains(r.Verbs, Bind) || slices.Contains(r.Verbs, Escalate)) {
		return problem{"for bindings, write resources=roles or clusterroles and verbs=bind", "the verbs bind and escalate have no effect on bindings, only on roles"}
	}
	return problem{}
}

// checkGroup reports a group with a version.
func checkGroup(g string) problem {
	group, version, slash := strings.Cut(g, "/")
	if !slash {
		group, version = "", g
	}
	if !versionLike().MatchString(version) {
		return problem{}
	}
	return problem{"write groups=" + cmp.Or(group, strconv.Quote(group)), fmt.Sprintf("the API group %q holds a version, so the marker allows nothing", g)}
}

func isBinding(resource string) bool {
	return resource == "rolebindings" || resource == "clusterrolebindings"
}

// checkResource reports a resource that is written in another form than rules have, such as a kind. A project need not have
// the CRD of a resource, so one that is only unknown is valid.
func checkResource(resource string, r rbac.Rule, known *kubeapi.Kinds) problem {
	base, sub, _ := strings.Cut(resource, "/")
	if base == rbacv1.ResourceAll && resourceLike().MatchString(resource) {
		return problem{}
	}
	for _, name := range r.Groups {
		group := groupOf(name)
		if _, found := known.FindResource(group, base); found || group == rbacv1.APIGroupAll {
			return problem{}
		}
	}
	for _, name := range r.Groups {
		k, found := similar(base, groupOf(name), known)
		if !found {
			continue
		}
		hint := fmt.Sprintf("write groups=%s,resources=%s", groupText(k.Group), k.Resource)
		if sub != "" {
			hint += "/" + sub
		}
		return problem{hint, fmt.Sprintf("the API group %s has no resource %q", groupText(groupOf(name)), base)}
	}
	if !resourceLike().MatchString(resource) {
		return problem{"write the plural in lower case, such as deployments or deployments/status", fmt.Sprintf("%q is not the name of a resource", resource)}
	}
	return problem{}
}

// similar returns the kind that somebody means who writes a resource of a group in another form: the name of the kind, its
// singular or short name, another group, or a misspelled plural of a group of Kubernetes.
func similar(name, group string, known *kubeapi.Kinds) (k kubeapi.Kind, found bool) {
	argument := strings.TrimSuffix(name+"."+group, ".")
	k, err := known.FindArgument(argument)
	if err == nil {
		return k, true
	}
	if !kubeapi.Builtin().HasGroup(group) {
		return k, false
	}
	if k, err = known.FindArgument(name); err == nil {
		return k, true
	}
	unknown, is := errors.AsType[*kubeapi.UnknownKindError](err)
	if !is || unknown.Near == "" {
		return k, false
	}
	k, err = known.Find("", unknown.Near)
	return k, err == nil && k.Group == group
}
