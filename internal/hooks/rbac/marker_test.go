//go:build testall

package rbac

import (
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	gomarker "github.com/operon-dev/operon/internal/gen/generate/marker"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	ctrlrbac "sigs.k8s.io/controller-tools/pkg/rbac"
)

// TestMarkers derives the rules of valid markers.
func TestMarkers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`# +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets,verbs=get;list`:                         "cluster: get,list apps/deployments,statefulsets\n",
		`  #+kubebuilder:rbac:groups="",resources=pods,verbs=get,namespace=web`:                                     "in web: get /pods\n",
		`# +kubebuilder:rbac:groups=core,resources=pods,resourceNames=a;b,verbs=get`:                                "cluster: get /pods a,b\n",
		`# +kubebuilder:rbac:urls=/metrics;/healthz,verbs=get`:                                                      "cluster: get /healthz,/metrics\n",
		`# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,roleName=reader`:                           "cluster reader: get apps/deployments\n",
		`# +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,resourceNames=edit,verbs=bind`: "cluster: bind rbac.authorization.k8s.io/clusterroles edit\n",
		`# +kubebuilder:rbac:groups="",resources=users;groups;serviceaccounts,verbs=impersonate`:                    "cluster: impersonate /groups,serviceaccounts,users\n",
		`# +kubebuilder:rbac:groups="",resources=pods/exec;*/status,verbs=create`:                                   "cluster: create /*/status,pods/exec\n",
		`# +kubebuilder:rbac:groups=cert-manager.io,resources=certificates/status,verbs=get`:                        "cluster: get cert-manager.io/certificates/status\n",
		`# +kubebuilder:rbac:groups=apps;"",resources=pods;deployments,verbs={get,list}`:                            "cluster: get,list ,apps/deployments,pods\n",
		`# +kubebuilder:rbac:groups=*,resources=*,verbs=*`:                                                          "cluster: * */*\n",
		`# +kubebuilder:validation:Minimum=1`:                                                                       "",
		`echo "# no comment: +kubebuilder:rbac:groups=apps"`:                                                        "",
	} {
		r := derive(t, Input{Kinds: table(t), Library: []Source{{"hooks/lib/a.sh", []byte("#!/bin/bash\n" + text + "\n")}}})
		if got := lines(r); got != want {
			t.Errorf("%s:\n%s", text, cmp.Diff(want, got))
		}
	}
}

// TestInvalidMarkers expects one error with a place and a hint.
func TestInvalidMarkers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`groups=apps,resources=deployments`:                                         `the marker does not parse: missing argument "verbs"; such as`,
		`groups=apps,resources=deployments,verb=get`:                                `the marker does not parse: unknown argument "verb"; such as`,
		`groups=apps,resources=deployments,verbs=`:                                  "the marker names no verbs, so it allows nothing; such as verbs=get;list",
		`groups=apps,resources=deployments,verbs=lits`:                              `there is no verb "lits"; did you mean list?`,
		`groups=apps,verbs=get`:                                                     "the marker names no resources, so it allows nothing; add resources= and groups=, or urls=",
		`resources=pods,verbs=get`:                                                  `the marker names no groups, so it allows nothing; groups="" is the core group`,
		`groups=apps/v1,resources=deployments,verbs=get`:                            `the API group "apps/v1" holds a version, so the marker allows nothing; write groups=apps`,
		`groups=v1,resources=pods,verbs=get`:                                        `the API group "v1" holds a version, so the marker allows nothing; write groups=""`,
		`groups="",resources=Pod,verbs=get`:                                         `the API group "" has no resource "Pod"; write groups="",resources=pods`,
		`groups="",resources=deployments/status,verbs=get`:                          `the API group "" has no resource "deployments"; write groups=apps,resources=deployments/status`,
		`groups=apps,resources=deploymnets,verbs=get`:                               `the API group apps has no resource "deploymnets"; write groups=apps,resources=deployments`,
		`groups=example.com,resources=tab,verbs=get`:                                `the API group example.com has no resource "tab"; write groups=example.com,resources=tabs`,
		`groups=cert-manager.io,resources=Certificate,verbs=get`:                    `"Certificate" is not the name of a resource; write the plural in lower case, such as deployments or deployments/status`,
		`urls=/a,verbs=get,namespace=web`:                                           "URLs are in no namespace, so the marker allows nothing; remove namespace=",
		`groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=create;bind`: "the verbs bind and escalate have no effect on bindings, only on roles; for bindings, write",
	} {
		_, err := Derive(Input{Kinds: table(t), Library: []Source{{"hooks/lib/a.sh", []byte("#!/bin/bash\n# " + markerName + ":" + text + "\n")}}})
		if err == nil || !strings.HasPrefix(err.Error()+"; "+fault.HintOf(err), "hooks/lib/a.sh:2: "+want) {
			t.Errorf("%s: %v; %s", text, err, fault.HintOf(err))
		}
	}
	for _, text := range []string{"# + kubebuilder:rbac:groups=apps", "# +kubebuidler:rbac:groups=apps"} {
		_, findings := Markers(Source{"a.py", []byte("\n" + text + "\n")}, nil)
		if len(findings) != 1 || findings[0].Line != 2 || findings[0].Column != 3 || !strings.Contains(findings[0].Message, "is not a marker and has no effect") {
			t.Errorf("%s: %+v", text, findings)
		}
	}
}

// TestAllows finds the markers that a request needs.
func TestAllows(t *testing.T) {
	t.Parallel()
	get := Request{Verb: "get", Group: "apps", Resource: "deployments", Namespace: "default", Name: "a"}
	for text, want := range map[string]bool{
		`groups=apps,resources=deployments,verbs=get`:                          true,
		`groups=apps,resources=deployments,verbs=list`:                         false,
		`groups=apps,resources=deployments,verbs=get,resourceNames=b`:          false,
		`groups=apps,resources=deployments,verbs=get,namespace=ops,roleName=x`: true, // of the operator
		`groups=apps,resources=deployments,verbs=get,namespace=web`:            false,
		`urls=/metrics,verbs=get`:                                              false,
	} {
		markers, findings := Markers(Source{"a.sh", []byte("# " + markerName + ":" + text + "\n")}, nil)
		if len(findings) > 0 || markers[0].Allows(get, "ops") != want {
			t.Errorf("%s: %v, want %t", text, findings, want)
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
