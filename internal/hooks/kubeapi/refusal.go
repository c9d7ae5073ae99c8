package kubeapi

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/output"
	"github.com/operon-dev/operon/internal/lazyregexp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxMissing is the number of missing permissions in a message.
const maxMissing = 2

var (
	grants      = lazyregexp.New(`(?s)^(.*? is forbidden: user "[^"]*").* is attempting to grant RBAC permissions not currently held:\n(.*)$`)
	grantedRule = lazyregexp.New(`(?:Resources|NonResourceURLs):\[([^\]]*)\].* Verbs:\[([^\]]*)\]`)
)

// terminating ends the API server's refusal to create an object in a namespace that is being
// deleted.
const terminating = "because it is being terminated"

// explain returns the text of an error in one line, with what helps. The API server refuses to
// grant permissions that the account does not have with a line for each rule of the role.
func explain(op output.Operation, err error) string {
	if strings.HasSuffix(err.Error(), terminating) {
		return err.Error() + "; skip namespaces that have a deletionTimestamp"
	}
	found := grants().FindStringSubmatch(err.Error())
	if found == nil {
		return err.Error()
	}
	unquoted := strings.NewReplacer(`" "`, ", ", `"`, "")
	var missing []string
	for line := range strings.Lines(found[2]) {
		if rule := grantedRule().FindStringSubmatch(line); rule != nil {
			missing = append(missing, unquoted.Replace(rule[2])+" "+unquoted.Replace(rule[1]))
		}
	}
	if more := len(missing) - maxMissing; more > 0 {
		missing = append(missing[:maxMissing], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s does not have the permissions that it would grant: %s; add the marker # +%s", found[1], strings.Join(missing, "; "), grantMarker(op))
}

// grantMarker returns the RBAC marker for an account that grants permissions: bind on the role
// of a binding, or escalate on a role.
func grantMarker(op output.Operation) string {
	o, err := op.Manifest()
	if err != nil {
		o = &unstructured.Unstructured{Object: map[string]any{"kind": op.Kind}}
		o.SetName(op.Name)
	}
	kind, name, verb := o.GetKind(), o.GetName(), "escalate"
	if strings.HasSuffix(strings.ToLower(kind), "binding") || strings.HasSuffix(strings.ToLower(kind), "bindings") {
		kind, _, _ = unstructured.NestedString(o.Object, "roleRef", "kind")
		name, _, _ = unstructured.NestedString(o.Object, "roleRef", "name")
		verb = "bind"
	}
	resources := map[bool]string{true: "roles", false: "clusterroles"}[strings.EqualFold(kind, "Role") || strings.EqualFold(kind, "roles")]
	if name == "" {
		name = "..."
	}
	return fmt.Sprintf("kubebuilder:rbac:groups=%s,resources=%s,resourceNames=%s,verbs=%s", rbacv1.GroupName, resources, name, verb)
}
