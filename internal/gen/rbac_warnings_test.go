package gen_test

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gen"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/testkit/gentest"
)

// controller is a controller with markers in line 10 and after it.
const controller = `
-- internal/CASE/controller.go --
package CASE

import (
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
)

type builder struct{}

//MARKERS

func (b *builder) Reconcile() {}

func (b *builder) Owns(any) *builder    { return b }
func (b *builder) Watches(any) *builder { return b }

func NewWebhookManagedBy() *builder  { return nil }
func (b *builder) For(any) *builder { return b }

func setUp(b *builder) {
	b.Owns(&appsv1.Deployment{}).Watches(&v1.Secret{})
	NewWebhookManagedBy().For(&v1.Pod{}).Owns(nil)
}
`

// TestRBACMarkerWarnings lists permissions that match nothing, or that lack a verb.
func TestRBACMarkerWarnings(t *testing.T) {
	t.Parallel()
	rule := func(args string) string { return " +kubebuilder:rbac:" + args }
	const watch = "a controller of this package watches "
	cases := map[string]struct{ markers, want string }{
		"none":          {"", ""},
		"right":         {rule("groups=apps,resources=deployments;deployments/status,verbs=list;watch"), ""},
		"core":          {rule(`groups=core;"",resources=pods/log;secrets,verbs=*`), ""},
		"two_groups":    {rule(`groups="";apps,resources=pods;daemonsets,verbs=get`), ""},
		"own_group":     {rule(`groups=zoo.example.com,resources=pods,verbs=get`), ""},
		"mixed_groups":  {rule(`groups=apps;zoo.example.com,resources=pods,verbs=get`), ""},
		"unknown":       {rule(`groups=apps,resources=ships,verbs=get`), ""},
		"all":           {rule(`groups=*,resources=pods,verbs=get`), ""},
		"several":       {rule(`groups=extensions;networking.k8s.io,resources=ingresses,verbs=get`), ""},
		"events":        {rule(`groups=events.k8s.io,resources=events,verbs=create`), ""},
		"pods":          {rule("groups=apps,resources=pods,verbs=get"), `10:44: [rbac-wrong-group] the API group "apps" has no resource pods, so the rule allows nothing; write groups=""`},
		"status":        {rule(`groups="",resources=statefulsets/status,verbs=get`), `10:42: [rbac-wrong-group] the API group "" has no resource statefulsets, so the rule allows nothing; write groups=apps`},
		"roles":         {rule(`groups=apps;core,resources=roles,verbs=get`), `10:49: [rbac-wrong-group] the API group "apps" or "core" has no resource roles, so the rule allows nothing; write groups=rbac.authorization.k8s.io`},
		"no_watch":      {rule("groups=apps,resources=deployments,verbs=get;list;create"), "10:62: [rbac-missing-watch] " + watch + "deployments, and the markers of the package lack the verbs list and watch"},
		"watch_apart":   {rule("groups=apps,resources=deployments,verbs=get") + "\n//" + rule("groups=apps,resources=deployments,verbs=list;watch"), ""},
		"watch_all":     {rule("groups=apps,resources=deployments,verbs=get") + "\n//" + rule("groups=*,resources=*,verbs=watch"), ""},
		"secrets":       {rule(`groups=core,resources=configmaps;secrets,verbs=get`), "10:69: [rbac-missing-watch] " + watch + "secrets, and the markers of the package lack the verbs list and watch"},
		"webhook":       {rule(`groups="",resources=pods,verbs=get`), ""},
		"other_secrets": {rule(`groups=zoo.example.com,resources=secrets,verbs=get`), ""},
	}
	var files strings.Builder
	for name, tt := range cases {
		files.WriteString(strings.NewReplacer("MARKERS", tt.markers, "CASE", name).Replace(controller))
	}
	dir := gentest.Zoo(t, files.String())
	p := gentest.NewPlan(t, dir)
	if err := gen.Plan(t.Context(), request.Request{Dir: dir, Args: []string{"rbac:roleName=a", "paths=./internal/..."}}, p); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(gentest.Warnings(p)), "\n") {
		name, warning, _ := strings.Cut(strings.TrimPrefix(line, "internal/"), "/controller.go:")
		got[name] += warning
	}
	for name, tt := range cases {
		if got[name] != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got[name], tt.want)
		}
	}
}
