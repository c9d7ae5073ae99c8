//go:build testall

package rbac

import (
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gomarker "github.com/operon-dev/operon/internal/gen/generate/marker"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	ctrlrbac "sigs.k8s.io/controller-tools/pkg/rbac"
)

// TestMarkers derives the rules of valid markers and reports invalid markers.
func TestMarkers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`# +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets,verbs=get;list`:                         "cluster: get,list apps/deployments,statefulsets\n",
		`  #+kubebuilder:rbac:groups="",resources=pods,verbs=get,namespace=web`:                                     "in web: get /pods\n",
		`# +kubebuilder:rbac:groups=core,resources=pods,resourceNames=a;b,verbs=get`:                                "cluster: get /pods a,b\n",
		`# +kubebuilder:rbac:urls=/metrics;/healthz,verbs=get`:                                                      "cluster: get /healthz,/metrics\n",
		`# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,roleName=reader`:                           "cluster reader: get apps/deployments\n",
		`# +kubebuilder:rbac:groups=apps,resources=deployments`:                                                     "the marker does not parse: missing argument \"verbs\" (rbac-marker)",
		`# +kubebuilder:rbac:groups=apps,verbs=get`:                                                                 "the marker names no resources, so it allows nothing (rbac-marker)",
		`# +kubebuilder:rbac:resources=pods,verbs=get`:                                                              "the marker names no groups, so it allows nothing (rbac-marker)",
		`# +kubebuilder:rbac:groups=apps/v1,resources=pods,verbs=get`:                                               "the API group \"apps/v1\" holds a version, so the marker allows nothing (rbac-marker)",
		`# +kubebuilder:rbac:groups=v1,resources=pods,verbs=get`:                                                    "the API group \"v1\" holds a version, so the marker allows nothing (rbac-marker)",
		`# +kubebuilder:rbac:urls=/a,verbs=get,namespace=web`:                                                       "URLs are in no namespace, so the marker allows nothing (rbac-marker)",
		`# + kubebuilder:rbac:groups=apps,resources=pods,verbs=get`:                                                 "+ kubebuilder:rbac:groups=apps,resources=pods,verbs=get is not a marker and has no effect; markers begin with +kubebuilder:rbac: (rbac-marker)",
		`# +kubebuidler:rbac:groups=apps,resources=pods,verbs=get`:                                                  "+kubebuidler:rbac:groups=apps,resources=pods,verbs=get is not a marker and has no effect; markers begin with +kubebuilder:rbac: (rbac-marker)",
		`# +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=create;bind`:             "the verbs bind and escalate have no effect on bindings, only on roles (rbac-marker)",
		`# +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,resourceNames=edit,verbs=bind`: "cluster: bind rbac.authorization.k8s.io/clusterroles edit\n",
		`# +kubebuilder:validation:Minimum=1`:                                                                       "",
		`echo "# no comment: +kubebuilder:rbac:groups=apps"`:                                                        "",
	} {
		s := Source{"hooks/lib/a.sh", []byte("#!/bin/bash\n" + text + "\n")}
		r := derive(t, Input{Kinds: table(t), Library: []Source{s}})
		got := lines(r)
		for _, f := range CheckMarkers(s) {
			got = fmt.Sprintf("%s (%s)", f.Message, f.Rule)
			if f.Line != 2 || f.Column == 0 || f.Hint == "" {
				t.Errorf("%s: %+v", text, f)
			}
		}
		if got != want {
			t.Errorf("%s:\n%s", text, cmp.Diff(want, got))
		}
	}
}

// TestLikeControllerGen compares the rules of markers with the rules that controller-gen
// generates from them.
func TestLikeControllerGen(t *testing.T) {
	t.Parallel()
	all := []string{
		`groups=apps;batch,resources=deployments;jobs,verbs=get;list`,
		`groups=apps,resources=deployments,verbs=watch`,
		`groups=core,resources=pods;services,verbs=get;list;watch`,
		`groups="",resources=configmaps,verbs=get;list;watch`,
		`groups=events.k8s.io;"",resources=events,verbs=create;patch`,
		`groups=apps,resources=deployments/status,verbs=get;update;patch`,
		`groups=rbac.authorization.k8s.io,resources=*,verbs=*`,
		`groups="",resources=secrets,verbs=get,namespace=web`,
		`groups="",resources=secrets,verbs=list,namespace=db`,
		`groups="",resources=nodes,verbs=get,roleName=other`,
		`urls=/metrics;/healthz,verbs=get`,
		`groups="",resources=endpoints,resourceNames=a;b,verbs=get`,
		`groups=a.example.com;b.example.com,resources=x;y,verbs=create`,
		`groups=b.example.com,resources=z,verbs=create`,
	}
	for seed := range len(all) {
		var list []string
		for i := range all {
			if j := (i * (seed + 1)) % len(all); seed == 0 || (i+seed)%3 != 0 {
				list = append(list, "+kubebuilder:rbac:"+all[j])
			}
		}
		script := "#!/bin/bash\n# " + strings.Join(list, "\n# ") + "\n"
		got := map[string][]rbacv1.PolicyRule{}
		for _, role := range derive(t, Input{Kinds: table(t), Library: []Source{{"a.sh", []byte(script)}}}).Roles {
			for _, rule := range role.Rules {
				key := role.Namespace + " " + role.Name
				got[key] = append(got[key], rule.PolicyRule)
			}
		}
		want := theirs(t, list)
		if diff := cmp.Diff(each(want), each(got)); diff != "" {
			t.Errorf("%s:\n(-controller-gen +operon)\n%s", strings.Join(list, "\n"), diff)
		}
		// Rules for several groups may be cut in other ways, and mean the same.
		whole := func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
			return slices.DeleteFunc(rules, func(r rbacv1.PolicyRule) bool {
				return slices.ContainsFunc(r.APIGroups, func(g string) bool { return g == "batch" || g == "apps" || strings.HasSuffix(g, ".example.com") })
			})
		}
		for place := range want {
			if diff := cmp.Diff(whole(want[place]), whole(got[place])); diff != "" {
				t.Errorf("%s:\n(-controller-gen +operon)\n%s", strings.Join(list, "\n"), diff)
			}
		}
	}
}

// each returns the single permissions of rules.
func each(rules map[string][]rbacv1.PolicyRule) map[string]bool {
	all := map[string]bool{}
	for place, list := range rules {
		for _, r := range list {
			for _, verb := range r.Verbs {
				for _, u := range r.NonResourceURLs {
					all[place+" "+verb+" "+u] = true
				}
				for _, g := range r.APIGroups {
					for _, resource := range r.Resources {
						for _, name := range append([]string{}, append(r.ResourceNames, "")[:max(1, len(r.ResourceNames))]...) {
							all[strings.Join([]string{place, verb, g, resource, name}, " ")] = true
						}
					}
				}
			}
		}
	}
	return all
}

// theirs returns the rules of controller-gen by the namespace and name of their role.
func theirs(t *testing.T, list []string) map[string][]rbacv1.PolicyRule {
	t.Helper()
	pkg, err := gomarker.Only(token.NewFileSet(), list)
	if err != nil {
		t.Fatal(err)
	}
	reg := &markers.Registry{}
	if err := (ctrlrbac.Generator{}).RegisterMarkers(reg); err != nil {
		t.Fatal(err)
	}
	ctx := &genall.GenerationContext{Collector: &markers.Collector{Registry: reg}, Roots: []*loader.Package{pkg}}
	roles, err := ctrlrbac.GenerateRoles(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string][]rbacv1.PolicyRule{}
	for _, r := range roles {
		switch role := r.(type) {
		case rbacv1.ClusterRole:
			rules[" "+role.Name] = role.Rules
		case rbacv1.Role:
			rules[role.Namespace+" "+role.Name] = role.Rules
		}
	}
	return rules
}

// TestReduce removes a rule that another rule covers, and keeps its origin.
func TestReduce(t *testing.T) {
	t.Parallel()
	script := `#!/bin/bash
# +kubebuilder:rbac:groups="",resources=pods,verbs=get;list
# +kubebuilder:rbac:groups="",resources=pods,verbs=get,namespace=web
# +kubebuilder:rbac:groups="",resources=pods,verbs=list,resourceNames=a
# +kubebuilder:rbac:groups=apps,resources=*,verbs=*,namespace=web
# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,resourceNames=a,namespace=web
# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,resourceNames=a,namespace=db
# +kubebuilder:rbac:groups="",resources=*/status,verbs=patch
# +kubebuilder:rbac:groups="",resources=nodes/status,verbs=patch
# +kubebuilder:rbac:groups="",resources=pods,verbs=get,roleName=mine
`
	r := derive(t, Input{Kinds: table(t), Library: []Source{{"a.sh", []byte(script)}}})
	want := "cluster: patch /*/status\ncluster: get,list /pods\ncluster mine: get /pods\nin db: get apps/deployments a\nin web: * apps/*\n"
	if got := lines(r); got != want {
		t.Errorf("%s", cmp.Diff(want, got))
	}
	reasons := map[int][]string{}
	for _, o := range r.Roles[0].Rules[1].Origins {
		reasons[o.Line] = o.Verbs
	}
	if want := map[int][]string{2: {"get", "list"}, 3: {"get"}, 4: {"list"}}; !cmp.Equal(reasons, want) {
		t.Errorf("lines %v have a part in the rule, want %v", slices.Collect(maps.Keys(reasons)), want)
	}
}
