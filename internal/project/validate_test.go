package project

import (
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
)

// verdict is the expected result of a check: an error and its hint, or none.
type verdict struct{ err, hint string }

func judge(t *testing.T, what string, err error, want verdict) {
	t.Helper()
	if want.err == "" {
		if err != nil {
			t.Errorf("%s: %v, want no error", what, err)
		}
		return
	}
	if err == nil || err.Error() != want.err || fault.HintOf(err) != want.hint || fault.Code(err) != fault.CodeUsage {
		t.Errorf("%s:\n got %v\nhint %s (exit code %d)\nwant %s\nhint %s", what, err, fault.HintOf(err), fault.Code(err), want.err, want.hint)
	}
}

func TestCheckDomain(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]verdict{
		"": {}, "my.domain": {}, "io": {}, "dzolotov.tech": {}, "3scale.net": {}, "x-k8s.io": {},
		"Example.org":             {`domain "Example.org" is not a DNS subdomain (RFC 1123)`, "try --domain example.org"},
		"EXAMPLE org":             {`domain "EXAMPLE org" is not a DNS subdomain (RFC 1123)`, "use lower-case letters, digits, '-' and '.', as in example.org"},
		"example.org.":            {`domain "example.org." is not a DNS subdomain (RFC 1123)`, "use lower-case letters, digits, '-' and '.', as in example.org"},
		"a..b":                    {`domain "a..b" is not a DNS subdomain (RFC 1123)`, "use lower-case letters, digits, '-' and '.', as in example.org"},
		"bücher.de":               {`domain "bücher.de" is not a DNS subdomain (RFC 1123)`, "use lower-case letters, digits, '-' and '.', as in example.org"},
		"a_b":                     {`domain "a_b" is not a DNS subdomain (RFC 1123)`, "use lower-case letters, digits, '-' and '.', as in example.org"},
		strings.Repeat("a.", 130): {`domain "` + strings.Repeat("a.", 130) + `" is not a DNS subdomain (RFC 1123)`, "use lower-case letters, digits, '-' and '.', as in example.org"},
	} {
		judge(t, s, CheckDomain(s), want)
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 29)
	for s, want := range map[string]verdict{
		"ks": {}, "s3-operator": {}, "3scale": {}, long[:28]: {},
		"":         {"the project name is missing", "add --project-name my-operator"},
		"Bad_Name": {`project name "Bad_Name" is not a DNS label (RFC 1123)`, "try --project-name bad-name"},
		"a.b":      {`project name "a.b" is not a DNS label (RFC 1123)`, "try --project-name a-b"},
		"-":        {`project name "-" is not a DNS label (RFC 1123)`, "try --project-name operator"},
		long: {`project name "` + long + `" has 29 characters; the limit is 28, because ` + long +
			`-controller-manager-metrics-service must be a DNS label of at most 63`, "choose a shorter one with --project-name"},
	} {
		judge(t, s, CheckName(s), want)
	}
}

func TestCheckRepo(t *testing.T) {
	t.Parallel()
	const hint = "use a module path such as --repo github.com/acme/my-operator"
	const suffix = "omit the suffix, or use /v2 or later"
	for s, want := range map[string]verdict{
		"s3-operator": {}, "github.com/systek/s3-operator": {}, "handsomeguy.cn/databaseuser": {}, "example.org/m/v2": {},
		"Example.org/M": {}, "m": {}, "gopkg.in/m.v1": {}, "github.com/x/internal/y": {},
		"a~b": {}, "x/~a": {}, "x/+a": {}, "_m": {}, ".m": {}, "0": {}, "a...b": {}, // the go command builds them
		"":             {"the module path is missing", hint},
		"Bad Repo!!":   {`repo "Bad Repo!!" is not a Go module path: invalid char ' '`, hint},
		"/m":           {`repo "/m" is not a Go module path: empty path element`, hint},
		"m/":           {`repo "m/" is not a Go module path: trailing slash`, hint},
		"a//b":         {`repo "a//b" is not a Go module path: double slash`, hint},
		"./m":          {`repo "./m" is not a Go module path: invalid path element "."`, hint},
		"-m":           {`repo "-m" is not a Go module path: leading dash`, hint},
		"~x":           {`repo "~x" is not a Go module path: the go command does not build packages whose path starts with '~'`, hint},
		"+x/y":         {`repo "+x/y" is not a Go module path: the go command does not build packages whose path starts with '+'`, hint},
		"a~1":          {`repo "a~1" is not a Go module path: trailing tilde and digits in path element`, hint},
		"m.":           {`repo "m." is not a Go module path: trailing dot in path element`, hint},
		"a/con":        {`repo "a/con" is not a Go module path: "con" disallowed as path element component on Windows`, hint},
		"ü":            {`repo "ü" is not a Go module path: invalid char 'ü'`, hint},
		"m\n":          {"repo \"m\\n\" is not a Go module path: invalid char '\\n'", hint},
		"a.b/m/v1":     {`repo "a.b/m/v1" is not a Go module path: a major version suffix is /v2 or later, in digits`, suffix},
		"a.b/m/v02":    {`repo "a.b/m/v02" is not a Go module path: a major version suffix is /v2 or later, in digits`, suffix},
		"gopkg.in/m":   {`repo "gopkg.in/m" is not a Go module path: a major version suffix is /v2 or later, in digits`, suffix},
		"go":           {`repo "go" is not a Go module path: "go" is reserved for the go command`, hint},
		"std":          {`repo "std" is not a Go module path: "std" is reserved for the go command`, hint},
		"a.b/vendor/m": {`repo "a.b/vendor/m" is not a Go module path: packages in a folder with the name vendor cannot be imported`, hint},
	} {
		judge(t, s, CheckRepo(s), want)
	}
}

func TestCheckGroup(t *testing.T) {
	t.Parallel()
	const form = "use lower-case letters, digits, '-' and '.', as in ship"
	for s, want := range map[string]verdict{
		"": {}, "ship": {}, "foo.bar-baz": {}, "3scale": {}, "v": {}, "v1x": {}, "example.com": {}, "func": {},
		"apps/v1":      {`group "apps/v1" contains a version`, "use --group apps --version v1"},
		"v1":           {`group "v1" contains a version`, "use --version v1"},
		"ship.v1beta1": {`group "ship.v1beta1" contains a version`, "use --group ship --version v1beta1"},
		"Ship":         {`group "Ship" is not a DNS subdomain (RFC 1123)`, "try --group ship"},
		"a b":          {`group "a b" is not a DNS subdomain (RFC 1123)`, form},
		".ship":        {`group ".ship" is not a DNS subdomain (RFC 1123)`, form},
		"../x":         {`group "../x" is not a DNS subdomain (RFC 1123)`, form},
		"apps/x":       {`group "apps/x" is not a DNS subdomain (RFC 1123)`, form},
	} {
		judge(t, s, CheckGroup(s), want)
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	const form = "use a version such as v1, v1alpha1 or v2beta1"
	rule := func(s string) string { return `version "` + s + `" is not of the form v1, v1alpha1 or v1beta1` }
	for s, want := range map[string]verdict{
		"v1": {}, "v10": {}, "v1alpha1": {}, "v2beta13": {},
		"":                            {"the version is missing", form},
		"1":                           {rule("1"), "try --version v1"},
		"V1":                          {rule("V1"), "try --version v1"},
		"2beta1":                      {rule("2beta1"), "try --version v2beta1"},
		"v1-alpha1":                   {rule("v1-alpha1"), "try --version v1alpha1"},
		"v1beta":                      {rule("v1beta"), "try --version v1beta1"},
		"v1.0":                        {rule("v1.0"), form},
		"v0":                          {rule("v0"), form},
		"v01":                         {rule("v01"), form},
		"foo":                         {rule("foo"), form},
		"v1gamma1":                    {rule("v1gamma1"), form},
		"v" + strings.Repeat("1", 63): {rule("v" + strings.Repeat("1", 63)), form},
	} {
		judge(t, s, CheckVersion(s), want)
	}
}

func TestCheckKind(t *testing.T) {
	t.Parallel()
	long := "K" + strings.Repeat("a", 59)
	const form = "start with a capital, and use ASCII letters and digits only"
	rule := func(s string) string { return `kind "` + s + `" is not a Go identifier in PascalCase` }
	for s, want := range map[string]verdict{
		"Frigate": {}, "S3": {}, "NFS": {}, "Type": {}, "Switch": {}, "Func": {}, "String": {}, "Error": {}, "Int": {}, "Con": {}, "WaitList": {}, long[:59]: {},
		"":        {"the kind is missing", "add one: --kind Frigate"},
		"foo-bar": {rule("foo-bar"), "try --kind FooBar"},
		"Foo-Bar": {rule("Foo-Bar"), "try --kind FooBar"},
		"Foo_bar": {rule("Foo_bar"), "try --kind FooBar"},
		"frigate": {rule("frigate"), "try --kind Frigate"},
		"3scale":  {rule("3scale"), form},
		"Größe":   {rule("Größe"), form},
		"Кит":     {rule("Кит"), form},
		"A B":     {rule("A B"), "try --kind AB"},
		"*Foo":    {rule("*Foo"), "try --kind Foo"},
		long: {`kind "` + long + `" has 60 characters; the limit is 59, because ` + long + `List must be a DNS label of at most 63`,
			"choose a shorter one"},
		"List":          {`kind "List" is reserved: clients add a cluster-scoped kind List to every API group`, "choose another kind"},
		"GroupVersion":  {`kind "GroupVersion" is reserved: every API package uses this name for something else`, "choose another kind"},
		"SchemeBuilder": {`kind "SchemeBuilder" is reserved: every API package uses this name for something else`, "choose another kind"},
		"AddToScheme":   {`kind "AddToScheme" is reserved: every API package uses this name for something else`, "choose another kind"},
		"ListOptions":   {`kind "ListOptions" is reserved: every API package uses this name for something else`, "choose another kind"},
	} {
		judge(t, s, CheckKind(s), want)
	}
}

func TestOtherChecks(t *testing.T) {
	t.Parallel()
	const form = "start with a letter, and use lower-case letters, digits and '-'"
	judge(t, "plural", checkPlural("frigates"), verdict{})
	judge(t, "plural", checkPlural("Frigates"), verdict{`plural "Frigates" is not a DNS label (RFC 1035)`, "try --plural frigates"})
	judge(t, "plural", checkPlural("3s"), verdict{`plural "3s" is not a DNS label (RFC 1035)`, form})
	judge(t, "controller", CheckControllerName("captain-backup"), verdict{})
	judge(t, "controller", CheckControllerName("Bad_N"), verdict{`controller name "Bad_N" is not a DNS label (RFC 1035)`, "try --controller-name bad-n"})
	judge(t, "controller", CheckControllerName(""), verdict{`controller name "" is not a DNS label (RFC 1035)`, form})
	judge(t, "CRD", CheckCRDVersion("v1"), verdict{})
	judge(t, "CRD", CheckCRDVersion("v1beta1"), verdict{"CRD version v1beta1 was removed in Kubernetes 1.22", "use --crd-version v1"})
	judge(t, "CRD", CheckCRDVersion("v2"), verdict{`CRD version "v2" does not exist`, "use --crd-version v1"})
}

func TestValidate(t *testing.T) {
	t.Parallel()
	good := func() *Config {
		return &Config{Version: "3", Domain: "example.org", Repo: "example.org/ks", ProjectName: "ks"}
	}
	for name, tt := range map[string]struct {
		change func(c *Config)
		want   verdict
	}{
		"valid":          {func(c *Config) {}, verdict{}},
		"without a repo": {func(c *Config) { c.Repo = "" }, verdict{}},
		"version": {func(c *Config) { c.Version = "2" }, verdict{
			`project version "2" is not supported`, "omit --project-version, or use 3"}},
		"domain": {func(c *Config) { c.Domain = "A" }, verdict{`domain "A" is not a DNS subdomain (RFC 1123)`, "try --domain a"}},
		"name":   {func(c *Config) { c.ProjectName = "K s" }, verdict{`project name "K s" is not a DNS label (RFC 1123)`, "try --project-name k-s"}},
		"repo": {func(c *Config) { c.Repo = "a b" }, verdict{
			`repo "a b" is not a Go module path: invalid char ' '`, "use a module path such as --repo github.com/acme/my-operator"}},
		"duplicate resource": {func(c *Config) { c.Resources = []Resource{sloop, sloop} }, verdict{
			"the resource ship.example.org/v1 Sloop occurs twice", "remove one of them"}},
		"what only kubebuilder accepts": {func(c *Config) {
			c.Resources = []Resource{{Group: "ship.v1", Domain: "org", Version: "__internal", Kind: "List"}, {Version: "stable", Kind: "FOO", Core: true}}
		}, verdict{}},
		"group of a resource":   {func(c *Config) { c.Resources = []Resource{{Group: "../ship", Version: "v1", Kind: "Sloop"}} }, verdict{`group "../ship" is not a DNS subdomain (RFC 1123)`, "use lower-case letters, digits, '-' and '.', as in ship"}},
		"domain of a resource":  {func(c *Config) { c.Resources = []Resource{{Domain: "..", Version: "v1", Kind: "Sloop"}} }, verdict{`domain ".." is not a DNS subdomain (RFC 1123)`, "use lower-case letters, digits, '-' and '.', as in example.org"}},
		"version of a resource": {func(c *Config) { c.Resources = []Resource{{Version: "../v1", Kind: "Sloop"}} }, verdict{`version "../v1" is not of the form v1, v1alpha1 or v1beta1`, "use a version such as v1, v1alpha1 or v2beta1"}},
		"kind of a resource":    {func(c *Config) { c.Resources = []Resource{{Version: "v1", Kind: "../Sloop"}} }, verdict{`kind "../Sloop" is not a Go identifier in PascalCase`, "try --kind Sloop"}},
		"plural of a resource":  {func(c *Config) { c.Resources = []Resource{{Version: "v1", Kind: "Sloop", Plural: "../sloops"}} }, verdict{`plural "../sloops" is not a DNS label (RFC 1035)`, "try --plural sloops"}},
		"controller of a resource": {func(c *Config) {
			c.Resources = []Resource{{Version: "v1", Kind: "Sloop", Controllers: []Controller{{"../sloop"}}}}
		}, verdict{`controller name "../sloop" is not a DNS label (RFC 1035)`, "start with a letter, and use lower-case letters, digits and '-'"}},
		"certificates of the webhooks": {func(c *Config) {
			c.Plugins = map[string]any{webhooksKey: map[string]any{"certs": "vault"}}
		}, verdict{"PROJECT has the unknown value vault for certs of plugins.webhooks.operon.dev/v1", "use cert-manager or self, or a newer operon"}},
		"path of a resource": {func(c *Config) {
			c.Resources = []Resource{{Version: "v1", Kind: "Sloop", Path: "example.org/ks/../api/v1"}}
		}, verdict{`path "example.org/ks/../api/v1" of kind Sloop is not a Go import path`, "correct the path of the resource in PROJECT"}},
		"hidden folder in the path of a resource": {func(c *Config) {
			c.Resources = []Resource{{Version: "v1", Kind: "Sloop", Path: "example.org/ks/.git/v1"}}
		}, verdict{`path "example.org/ks/.git/v1" of kind Sloop has the hidden folder .git`, "correct the path of the resource in PROJECT"}},
		"kinds that differ in case": {func(c *Config) {
			c.Resources = []Resource{{Group: "ship", Version: "v1", Kind: "Sloop"}, {Group: "ship", Version: "v2", Kind: "SLOOP"}}
		}, verdict{"the kinds Sloop and SLOOP in group ship differ only in case", "remove one of them"}},
		"kinds of two groups": {func(c *Config) {
			c.Resources = []Resource{{Group: "ship", Version: "v1", Kind: "Sloop"}, {Group: "sea", Version: "v1", Kind: "SLOOP"}}
		}, verdict{}},
		"controller twice": {func(c *Config) {
			c.Resources = []Resource{{Version: "v1", Kind: "Sloop", Controllers: []Controller{{"a"}, {"a"}}}}
		}, verdict{`kind Sloop has the controller "a" twice`, "remove one of them from PROJECT"}},
		"controllers that differ in case": {func(c *Config) {
			c.Resources = []Resource{{Version: "v1", Kind: "Sloop", Controllers: []Controller{{"foo-bar"}, {"foobar"}}}}
		}, verdict{`controller name "foobar": Sloop already has the Go type FooBarReconciler, for its controller foo-bar`, "use another --controller-name"}},
		"path of a webhook": {func(c *Config) {
			c.Resources = []Resource{{Version: "v1", Kind: "Sloop", Webhooks: &Webhooks{Defaulting: true, DefaultingPath: `/a"b`}}}
		}, verdict{`webhook path "/a\"b" of kind Sloop is not a URL path that starts with /`, "use letters, digits and - . _ ~ between slashes"}},
		"spoke": {func(c *Config) {
			c.Resources = []Resource{{Version: "v1", Kind: "Sloop", Webhooks: &Webhooks{Conversion: true, Spoke: []string{"../v2"}}}}
		}, verdict{`version "../v2" is not of the form v1, v1alpha1 or v1beta1`, "use a version such as v1, v1alpha1 or v2beta1"}},
	} {
		c := good()
		tt.change(c)
		judge(t, name, c.Validate(), tt.want)
	}
}
