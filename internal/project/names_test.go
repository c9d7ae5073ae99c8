package project

import (
	"go/token"
	"testing"
)

func TestPlurals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind, plural, want string
		marker             bool
	}{
		{"Frigate", "", "frigates", false},
		{"Person", "", "people", false},
		{"S3", "", "s3s", false},
		{"AerospikeCluster", "", "aerospikeclusters", false},
		{"DatabaseUser", "", "databaseusers", false},
		{"NFS", "", "nfs", true},
		{"AWS", "", "aws", true},
		{"DNS", "", "dns", true},
		{"DNS", "dnses", "dnses", false},
		{"HTTPS", "", "https", true},
		{"Dns", "", "dns", true},
		{"Sheep", "sheeps", "sheeps", true},
		{"Frigate", "frigates", "frigates", false},
		{"Policy", "", "policies", false},
	} {
		r := Resource{Kind: tt.kind, Plural: tt.plural}
		if got := r.PluralName(); got != tt.want {
			t.Errorf("%s, %q: plural %q, want %q", tt.kind, tt.plural, got, tt.want)
		}
		if got := r.PathMarkerNeeded(); got != tt.marker {
			t.Errorf("%s, %q: path marker needed: %t, want %t", tt.kind, tt.plural, got, tt.marker)
		}
	}
}

func TestQualifiedGroup(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{
		{"ship", "example.org", "ship.example.org"},
		{"", "example.org", "example.org"},
		{"apps", "", "apps"},
		{"", "", ""},
	} {
		if got := (Resource{Group: tt[0], Domain: tt[1]}).QualifiedGroup(); got != tt[2] {
			t.Errorf("%q and %q give %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}

func TestImportAlias(t *testing.T) {
	t.Parallel()
	for _, tt := range [][4]string{
		{"ship", "example.org", "v1", "shipv1"},
		{"foo.bar-baz", "example.org", "v1beta1", "foobarbazv1beta1"},
		{"", "example.org", "v1", "exampleorgv1"},
		{"3scale", "example.org", "v1", "api3scalev1"},
		{"meta", "example.org", "v1", "apimetav1"},
		{"webhook", "example.org", "v1", "apiwebhookv1"},
		{"type", "example.org", "v1", "typev1"},
	} {
		r := Resource{Group: tt[0], Domain: tt[1], Version: tt[2]}
		if got := r.ImportAlias(); got != tt[3] || !token.IsIdentifier(got) {
			t.Errorf("%q, %q, %q: alias %q, want %q", tt[0], tt[1], tt[2], got, tt[3])
		}
	}
}

func TestVarName(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"Frigate": "frigate", "Type": "typeObj", "Switch": "switchObj", "Func": "funcObj", "String": "stringObj",
		"Error": "errorObj", "Int": "intObj", "Len": "lenObj", "Nil": "nilObj", "Client": "clientObj", "R": "rObj",
		"Shipv1": "shipv1Obj", "S3": "s3", "Any": "anyObj", "Meta": "metaObj", "Runtime": "runtimeObj",
	} {
		r := Resource{Group: "ship", Version: "v1", Kind: kind}
		if got := r.VarName(); got != want || !token.IsIdentifier(got) {
			t.Errorf("%s: variable %q, want %q", kind, got, want)
		}
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	const repo = "example.org/m"
	for name, tt := range map[string]struct {
		c                                Config
		r                                Resource
		api, path, ctl, pkg, alias, hook string
	}{
		"one group": {
			r:   Resource{Group: "ship", Version: "v1"},
			api: "api/v1", path: repo + "/api/v1", ctl: "internal/controller", pkg: "controller", hook: "internal/webhook/v1",
		},
		"several groups": {
			c: Config{MultiGroup: true}, r: Resource{Group: "ship", Version: "v1"},
			api: "api/ship/v1", path: repo + "/api/ship/v1", ctl: "internal/controller/ship", pkg: "ship", alias: "shipcontroller", hook: "internal/webhook/ship/v1",
		},
		"several groups, this one empty": {
			c: Config{MultiGroup: true}, r: Resource{Version: "v1"},
			api: "api/v1", path: repo + "/api/v1", ctl: "internal/controller", pkg: "controller", hook: "internal/webhook/v1",
		},
		"punctuation": {
			c: Config{MultiGroup: true}, r: Resource{Group: "foo.bar-baz", Version: "v1"},
			api: "api/foo.bar-baz/v1", path: repo + "/api/foo.bar-baz/v1", ctl: "internal/controller/foo.bar-baz",
			pkg: "foobarbaz", alias: "foobarbazcontroller", hook: "internal/webhook/foo.bar-baz/v1",
		},
		"group that is a keyword": {
			c: Config{MultiGroup: true}, r: Resource{Group: "type", Version: "v1"},
			api: "api/type/v1", path: repo + "/api/type/v1", ctl: "internal/controller/type",
			pkg: "grouptype", alias: "grouptypecontroller", hook: "internal/webhook/type/v1",
		},
		"group that starts with a digit": {
			c: Config{MultiGroup: true}, r: Resource{Group: "3scale", Version: "v1"},
			api: "api/3scale/v1", path: repo + "/api/3scale/v1", ctl: "internal/controller/3scale",
			pkg: "group3scale", alias: "group3scalecontroller", hook: "internal/webhook/3scale/v1",
		},
		"recorded path": {
			c: Config{MultiGroup: true}, r: Resource{Group: "ship", Version: "v1", Path: repo + "/apis/v1"},
			api: "apis/v1", path: repo + "/apis/v1", ctl: "internal/controller/ship", pkg: "ship", alias: "shipcontroller", hook: "internal/webhook/ship/v1",
		},
		"recorded path of another kind in the version": {
			c:   Config{MultiGroup: true, Resources: []Resource{{Group: "ship", Version: "v1", Kind: "Frigate", API: &API{}, Path: repo + "/api/v1"}}},
			r:   Resource{Group: "ship", Version: "v1", Kind: "Sloop"},
			api: "api/v1", path: repo + "/api/v1", ctl: "internal/controller/ship", pkg: "ship", alias: "shipcontroller", hook: "internal/webhook/ship/v1",
		},
		"types in the root": {
			r:   Resource{Group: "ship", Version: "v1", Path: repo},
			api: ".", path: repo, ctl: "internal/controller", pkg: "controller", hook: "internal/webhook/v1",
		},
		"external types": {
			c: Config{MultiGroup: true}, r: Resource{Group: "apps", Version: "v1", Core: true, Path: "k8s.io/api/apps/v1"},
			api: "api/apps/v1", path: "k8s.io/api/apps/v1", ctl: "internal/controller/apps", pkg: "apps", alias: "appscontroller", hook: "internal/webhook/apps/v1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tt.c
			c.Repo = repo
			for _, v := range [][3]string{
				{"APIDir", c.APIDir(tt.r), tt.api},
				{"APIPath", c.APIPath(tt.r), tt.path},
				{"ControllerDir", c.ControllerDir(tt.r), tt.ctl},
				{"ControllerPath", c.ControllerPath(tt.r), repo + "/" + tt.ctl},
				{"ControllerPackage", c.ControllerPackage(tt.r), tt.pkg},
				{"ControllerAlias", c.ControllerAlias(tt.r), tt.alias},
				{"WebhookDir", c.WebhookDir(tt.r), tt.hook},
				{"WebhookPath", c.WebhookPath(tt.r), repo + "/" + tt.hook},
			} {
				if v[1] != v[2] {
					t.Errorf("%s is %q, want %q", v[0], v[1], v[2])
				}
			}
		})
	}
}

func TestIsOwnFile(t *testing.T) {
	t.Parallel()
	web := Resource{Group: "ship", Version: "v1", Kind: "Web", Controllers: []Controller{{Name: "web-backup"}}}
	for name, want := range map[string]bool{
		"api/v1/web_types.go":                          true,
		"internal/controller/web_backup_controller.go": true,
		"config/samples/ship_v1_web.yaml":              true,
		"config/crd/bases/ship.example.org_webs.yaml":  true,
		"config/default/manager_webhook_patch.yaml":    false,
		"internal/webhook/v1/webhook_suite_test.go":    false,
		"config/rbac/cobweb_admin_role.yaml":           false,
		"api/v1/groupversion_info.go":                  false,
	} {
		if got := web.IsOwnFile(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestArticle(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"Frigate": "a", "AerospikeCluster": "an", "NFS": "an", "S3": "an", "API": "an", "URL": "a", "User": "a", "Unicorn": "a",
		"Uninstall": "an", "Umbrella": "an", "Hour": "an", "House": "a", "HTTPRoute": "an", "Europe": "a", "X": "an", "B": "a",
	} {
		if got := (Resource{Kind: kind}).Article(); got != want {
			t.Errorf("%s %s, want %s", got, kind, want)
		}
	}
}
