package project

import (
	"strings"
	"testing"
)

func TestValidateResource(t *testing.T) {
	t.Parallel()
	api := &API{CRDVersion: "v1", Namespaced: true}
	res := func(group, version, kind string, change ...func(r *Resource)) Resource {
		r := Resource{Group: group, Domain: "example.org", Version: version, Kind: kind, API: api, Controller: true}
		for _, f := range change {
			f(&r)
		}
		return r
	}
	typesOnly := func(r *Resource) { r.Controller = false }
	clusterWide := func(r *Resource) { r.API = &API{CRDVersion: "v1"} }
	plural := func(s string) func(r *Resource) { return func(r *Resource) { r.Plural = s } }
	at := func(dir string) func(r *Resource) { return func(r *Resource) { r.Path = "example.org/fleet/" + dir } }
	inRepo := func(c Config) Config { c.Repo = "example.org/fleet"; return c }
	domain := func(s string) func(r *Resource) { return func(r *Resource) { r.Domain = s } }
	hooks := func(w Webhooks) func(r *Resource) {
		return func(r *Resource) { w.WebhookVersion = "v1"; r.Webhooks = &w }
	}
	core := func(group, kind string) Resource {
		return Resource{Group: group, Version: "v1", Kind: kind, Core: true, Controller: true, Path: "k8s.io/api/" + group + "/v1"}
	}
	frigate := res("ship", "v1", "Frigate")
	single := func(all ...Resource) Config { return Config{Domain: "example.org", Resources: all} }
	multi := func(all ...Resource) Config { return Config{Domain: "example.org", MultiGroup: true, Resources: all} }

	for name, tt := range map[string]struct {
		c    Config
		r    Resource
		want verdict
	}{
		"first":                             {single(), frigate, verdict{}},
		"unchanged":                         {single(frigate), frigate, verdict{}},
		"second kind":                       {single(frigate), res("ship", "v1", "Sloop"), verdict{}},
		"second version":                    {single(frigate), res("ship", "v2", "Frigate", typesOnly), verdict{}},
		"domain as group":                   {single(), res("", "v1", "S3"), verdict{}},
		"keyword":                           {single(frigate), res("ship", "v1", "Type"), verdict{}},
		"core kind beside a project's kind": {single(frigate), core("apps", "Deployment"), verdict{}},
		"same name with multigroup":         {multi(frigate), res("crew", "v1", "Frigate"), verdict{}},
		"core kind with the name of a project's kind": {multi(res("apps", "v1", "App")), core("apps", "Deployment"), verdict{}},

		"group":          {single(), res("Ship", "v1", "Frigate"), verdict{`group "Ship" is not a DNS subdomain (RFC 1123)`, "try --group ship"}},
		"version":        {single(), res("ship", "1", "Frigate"), verdict{`version "1" is not of the form v1, v1alpha1 or v1beta1`, "try --version v1"}},
		"kind":           {single(), res("ship", "v1", "foo-bar"), verdict{`kind "foo-bar" is not a Go identifier in PascalCase`, "try --kind FooBar"}},
		"kind as a path": {single(), res("ship", "v1", "api/v1/foo.go"), verdict{`kind "api/v1/foo.go" is not a Go identifier in PascalCase`, "start with a capital, and use ASCII letters and digits only"}},
		"plural":         {single(), res("ship", "v1", "Frigate", plural("Xs")), verdict{`plural "Xs" is not a DNS label (RFC 1035)`, "try --plural xs"}},
		"CRD version": {single(), res("ship", "v1", "Frigate", func(r *Resource) { r.API = &API{CRDVersion: "v1beta1"} }),
			verdict{"CRD version v1beta1 was removed in Kubernetes 1.22", "use --crd-version v1"}},
		"controller name": {single(), res("ship", "v1", "Frigate", func(r *Resource) { r.Controllers = []Controller{{"Bad_N"}} }),
			verdict{`controller name "Bad_N" is not a DNS label (RFC 1035)`, "write name: bad-n in controllers in PROJECT"}},
		"duplicate controller": {single(), res("ship", "v1", "Frigate", func(r *Resource) { r.Controllers = []Controller{{"a"}, {"a"}} }),
			verdict{`kind Frigate has the controller "a" twice`, "remove one of them from PROJECT"}},
		"path": {single(), res("ship", "v1", "Frigate", func(r *Resource) { r.Path = "a b" }), verdict{`path "a b" of kind Frigate is not a Go import path`, "correct the path of the resource in PROJECT"}},
		"external without a path": {single(), Resource{Group: "x", Domain: "io", Version: "v1", Kind: "X", External: true},
			verdict{"the Go import path of kind X is missing", "add the key path to the resource in PROJECT"}},

		"neither group nor domain": {Config{}, Resource{Version: "v1", Kind: "S3", API: api},
			verdict{"kind S3 has neither a group nor a domain", "add --group, or the line `domain: example.org` to PROJECT"}},
		"group without a dot": {Config{}, Resource{Group: "ship", Version: "v1", Kind: "S3", API: api},
			verdict{`API group "ship" has no dot, but the group of a CRD needs one`, "add the line `domain: example.org` to PROJECT"}},
		"group ends with the domain": {single(), res("ship.example.org", "v1", "S3"),
			verdict{`group "ship.example.org" ends with the domain, so the full group would be ship.example.org.example.org`, "use --group ship"}},
		"group equal to the domain": {single(), res("example.org", "v1", "S3"),
			verdict{`group "example.org" ends with the domain, so the full group would be example.org.example.org`, "omit --group: then the domain is the group"}},
		"recorded group ends with the domain": {single(res("ship.example.org", "v1", "S3")), res("ship.example.org", "v1", "S3"), verdict{}},
		"Windows": {single(), res("con", "v1", "S3"),
			verdict{`group "con.example.org" results in a file name that Windows reserves: con.example.org_s3s.yaml`, "choose another --group"}},
		"Windows, ports": {single(), res("com1", "v1", "S3"),
			verdict{`group "com1.example.org" results in a file name that Windows reserves: com1.example.org_s3s.yaml`, "choose another --group"}},
		"not Windows": {single(), res("com0", "v1", "Con"), verdict{}},
		"folder with a meaning for Go": {multi(), res("internal", "v1", "S3"),
			verdict{`group "internal" cannot be the name of a folder: it has a special meaning for the go command`, "choose another --group"}},
		"folder without multigroup": {single(), res("internal", "v1", "S3"), verdict{}},
		"long CRD name": {Config{}, Resource{Group: strings.Repeat("a.", 120) + "b", Version: "v1", Kind: "Frigatesgalore", API: api},
			verdict{"frigatesgalores." + strings.Repeat("a.", 120) + "b, the name of the CRD, has more than 253 characters", "choose shorter names"}},

		"second group": {single(frigate), res("crew", "v1", "Captain"),
			verdict{"group crew: the project has the group ship, and its layout supports one group only",
				"use --group ship, or first use a folder for each group: operon edit --multigroup"}},
		"second group after an empty one": {single(res("", "v1", "S3")), res("crew", "v1", "Captain"),
			verdict{`group crew: the project has the group "", and its layout supports one group only`,
				"omit --group, or first use a folder for each group: operon edit --multigroup"}},

		"second group, types elsewhere": {inRepo(single(res("crew", "v1", "Captain", at("types/crew/v1")))), frigate, verdict{}},
		"second group in the same folder": {inRepo(multi(res("crew", "v1", "Captain", at("api/ship/v1")))), frigate,
			verdict{"group ship.example.org: api/ship/v1 has the types of group crew.example.org",
				"correct the paths of the resources in PROJECT, or write another folder for new types: api below plugins and layout.operon.dev/v1"}},
		"same group name in another domain": {inRepo(multi(res("ship", "v1", "Captain", at("api/config/v1"), domain("other.example.org")))), frigate, verdict{}},
		"same kind in another domain": {inRepo(multi(res("ship", "v1", "Frigate", typesOnly, at("api/config/v1"), domain("other.example.org")))), frigate,
			verdict{"kind Frigate: the group ship.other.example.org has it, too, and its files would have the same names", "choose another kind"}},

		"kinds that differ in case": {single(res("ship", "v1", "Foo")), res("ship", "v1", "FOO"),
			verdict{`kind "FOO" differs from kind "Foo" in the same group only in case`, "use --kind Foo"}},
		"kinds that differ in case, other version": {single(res("ship", "v1", "Foo")), res("ship", "v2", "FOO", typesOnly),
			verdict{`kind "FOO" differs from kind "Foo" in the same group only in case`, "use --kind Foo"}},
		"list after kind": {single(frigate), res("ship", "v1", "FrigateList"),
			verdict{`kind "FrigateList" collides with "Frigate": a kind has a list type with this name`, "choose another kind"}},
		"kind after list": {single(res("ship", "v1", "FrigateList")), frigate,
			verdict{`kind "Frigate" collides with "FrigateList": a kind has a list type with this name`, "choose another kind"}},
		"spec after kind": {single(frigate), res("ship", "v1", "FrigateSpec"),
			verdict{`kind "FrigateSpec" collides with "Frigate": both need the Go type FrigateSpec in api/v1`, "choose another kind"}},
		"kind after status": {single(res("ship", "v1", "FrigateStatus")), frigate,
			verdict{`kind "Frigate" collides with "FrigateStatus": both need the Go type FrigateStatus in api/v1`, "choose another kind"}},
		"spec in another version": {single(frigate), res("ship", "v2", "FrigateSpec"), verdict{}},
		"list and spec":           {single(frigate), res("ship", "v1", "FrigateListing"), verdict{}},
		"plural of another kind": {single(res("ship", "v1", "Person")), res("ship", "v1", "People"),
			verdict{`plural "people" of kind "People" is the plural of kind "Person"`, "use --kind Person, or choose another plural with --plural"}},
		"recorded plural of another kind": {single(frigate), res("ship", "v1", "Sloop", plural("frigates")),
			verdict{`plural "frigates" of kind "Sloop" is the plural of kind "Frigate"`, "choose another with --plural"}},
		"two plurals": {single(frigate), res("ship", "v2", "Frigate", typesOnly, plural("frigs")),
			verdict{`plural "frigs" differs from "frigates", the plural of Frigate in version v1`, "use --plural frigates"}},
		"two scopes": {single(frigate), res("ship", "v2", "Frigate", typesOnly, clusterWide),
			verdict{"Frigate is namespaced in version v1; all versions of a kind have the same scope", "use --namespaced"}},
		"two scopes, reversed": {single(res("ship", "v1", "Frigate", clusterWide)), res("ship", "v2", "Frigate", typesOnly),
			verdict{"Frigate is cluster-scoped in version v1; all versions of a kind have the same scope", "use --namespaced=false"}},

		"controller for a second version": {single(frigate), res("ship", "v2", "Frigate"),
			verdict{"kind Frigate already has a controller, for version v1", "use --controller=false: one controller handles all versions of a kind"}},
		"same type name in one package": {single(res("ship", "v1", "Deployment")), core("apps", "Deployment"),
			verdict{"internal/controller already has DeploymentReconciler, for kind Deployment of group ship.example.org",
				"use --controller=false, or a folder for each group: operon edit --multigroup"}},
		"name of another kind's controller": {single(res("ship", "v1", "FrigateBackup")), res("ship", "v1", "Frigate", func(r *Resource) { r.Controllers = []Controller{{"frigate-backup"}} }),
			verdict{`controller name "frigate-backup": internal/controller already has FrigateBackupReconciler, for kind FrigateBackup in version v1`,
				"use another --controller-name"}},
		"two controllers with one type": {single(), res("ship", "v1", "Frigate", func(r *Resource) { r.Controllers = []Controller{{"frigate-a1"}, {"frigate-a-1"}} }),
			verdict{`controller name "frigate-a-1": Frigate already has the Go type FrigateA1Reconciler, for its controller frigate-a1`, "use another --controller-name"}},
		"same type as the default controller": {single(), res("ship", "v1", "Frigate", func(r *Resource) { r.Controllers = []Controller{{"FRIGATE"}} }),
			verdict{`controller name "FRIGATE" is not a DNS label (RFC 1035)`, "write name: frigate in controllers in PROJECT"}},
		"same name in the manager": {multi(res("crew", "v1", "Captain", func(r *Resource) { r.Controllers = []Controller{{"captain-backup"}} })),
			res("crew-captain", "v1", "Backup"),
			verdict{`controller name "backup": kind Captain of group crew.example.org has a controller with the name crew-captain-backup in the manager`,
				"use another --controller-name"}},

		"alias": {multi(res("foo-bar", "v1", "Foo")), res("foobar", "v1", "Bar"),
			verdict{"groups foobar and foo-bar have the same Go name foobarcontroller, because they differ only in punctuation", "choose another --group"}},
		"alias, other version": {multi(res("foo-bar", "v1", "Foo", typesOnly)), res("foobar", "v2", "Bar", typesOnly),
			verdict{"groups foobar and foo-bar have the same Go name foobarcontroller, because they differ only in punctuation", "choose another --group"}},
		"alias of the domain": {multi(res("", "v1", "Foo")), res("exampleorg", "v1", "Bar"),
			verdict{`groups exampleorg and "" have the same Go name exampleorgv1, because they differ only in punctuation`, "choose another --group"}},

		"webhooks": {single(frigate), res("ship", "v1", "Frigate", hooks(Webhooks{Defaulting: true, DefaultingPath: "/mutate/x"})), verdict{}},
		"path without a webhook": {single(), res("ship", "v1", "Frigate", hooks(Webhooks{ValidationPath: "/v"})), verdict{"kind Frigate has the validationPath /v, but no validation webhook",
			"add validation: true in webhooks in PROJECT, or remove validationPath"}},
		"path without a slash": {single(), res("ship", "v1", "Frigate", hooks(Webhooks{Defaulting: true, DefaultingPath: "nolead"})),
			verdict{`webhook path "nolead" is not a URL path that starts with /`, "write defaultingPath: /nolead in webhooks in PROJECT"}},
		"spoke": {single(frigate, res("ship", "v2", "Frigate", typesOnly)), res("ship", "v1", "Frigate", hooks(Webhooks{Conversion: true, Spoke: []string{"v2"}})), verdict{}},
		"unknown spoke": {single(frigate), res("ship", "v1", "Frigate", hooks(Webhooks{Conversion: true, Spoke: []string{"v9"}})),
			verdict{"kind Frigate has no version v9 to use as a spoke", "create it first: operon create api --group ship --version v9 --kind Frigate --controller=false"}},
		"spoke of itself": {single(frigate), res("ship", "v1", "Frigate", hooks(Webhooks{Conversion: true, Spoke: []string{"v1"}})),
			verdict{"version v1 is the hub and cannot be a spoke of itself", "remove it from spoke in PROJECT"}},
		"duplicate spoke": {single(frigate, res("ship", "v2", "Frigate", typesOnly)), res("ship", "v1", "Frigate", hooks(Webhooks{Conversion: true, Spoke: []string{"v2", "v2"}})),
			verdict{"duplicate spoke version v2", "remove one of them from spoke in PROJECT"}},
		"same path for both webhooks": {single(), res("ship", "v1", "Frigate", hooks(Webhooks{Defaulting: true, DefaultingPath: "/x", Validation: true, ValidationPath: "/x"})),
			verdict{"both webhooks have the path /x", "choose another path for one of them"}},
		"path of the conversion webhook": {single(), res("ship", "v1", "Frigate", hooks(Webhooks{Defaulting: true, DefaultingPath: "/convert"})),
			verdict{"webhook path /convert is reserved for conversion", "choose another path"}},
		"path of another kind": {single(res("ship", "v1", "Sloop", hooks(Webhooks{Validation: true}))),
			res("ship", "v1", "Frigate", hooks(Webhooks{Defaulting: true, DefaultingPath: "/validate-ship-example-org-v1-sloop"})),
			verdict{"webhook path /validate-ship-example-org-v1-sloop is already the path of v1 Sloop", "choose another path"}},
		"webhooks of a kind with the same name": {single(res("ship", "v1", "Pod", hooks(Webhooks{Validation: true}))),
			Resource{Group: "core", Version: "v1", Kind: "Pod", Core: true, Path: "k8s.io/api/core/v1", Webhooks: &Webhooks{Defaulting: true}},
			verdict{"internal/webhook/v1 already has the webhooks of kind Pod of group ship.example.org", "use a folder for each group: operon edit --multigroup"}},
		"webhook version": {single(), res("ship", "v1", "Frigate", func(r *Resource) { r.Webhooks = &Webhooks{WebhookVersion: "v1beta1"} }),
			verdict{"webhook version v1beta1 was removed in Kubernetes 1.22", "write webhookVersion: v1 in webhooks in PROJECT"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge(t, name, tt.c.ValidateResource(tt.r), tt.want)
		})
	}
}
