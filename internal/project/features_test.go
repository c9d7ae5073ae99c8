package project

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTarget(t *testing.T) {
	t.Parallel()
	frigate := Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Frigate", API: &API{Namespaced: true}}
	s3 := Resource{Domain: "example.org", Version: "v1", Kind: "S3", API: &API{Namespaced: true}}
	untyped := Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Ghost"} // without types
	certificate := Resource{Group: "cert-manager", Domain: "io", Version: "v1", Kind: "Certificate", External: true, Path: "x"}
	c := &Config{Domain: "example.org", Resources: []Resource{frigate, s3, untyped, certificate}}
	for value, want := range map[string]string{
		"ship/v1/Frigate":                   "ship/v1/Frigate",
		"ship.example.org/v1/Frigate":       "ship/v1/Frigate",
		"v1/S3":                             "v1/S3",
		"cert-manager/v1/Certificate":       "cert-manager/v1/Certificate",
		"core/v1/Secret":                    "core/v1/Secret",
		"apps/v1/StatefulSet":               "apps/v1/StatefulSet",
		"rbac.authorization.k8s.io/v1/Role": "rbac.authorization/v1/Role",
	} {
		got, err := c.Target("owns", value)
		if err != nil || got.targetName() != want {
			t.Errorf("%s is %s, error %v, want %s", value, got.targetName(), err, want)
		}
		if !slices.Contains(c.TargetNames(), want) {
			t.Errorf("TargetNames does not have %s", want)
		}
	}
	for value, want := range map[string]verdict{
		"Secret":             {`--owns "Secret" does not name a kind`, "did you mean --owns core/v1/Secret?"},
		"apps/v1/deployment": {`--owns "apps/v1/deployment" does not name a kind`, "did you mean --owns apps/v1/Deployment?"},
		"core/v1/secrets":    {`--owns "core/v1/secrets" does not name a kind`, "did you mean --owns core/v1/Secret?"},
		"a/b/v1/Secret":      {`--owns "a/b/v1/Secret" does not name a kind`, "write group/version/Kind, as in --owns apps/v1/StatefulSet,core/v1/Secret"},
		"core/1/Secret":      {`--owns "core/1/Secret" does not name a kind`, "write group/version/Kind, as in --owns apps/v1/StatefulSet,core/v1/Secret"},
		"v1/Secret":          {"--owns v1/Secret: neither Kubernetes nor the project has this kind", "did you mean --owns core/v1/Secret?"},
		"/v1/Secret":         {"--owns /v1/Secret: neither Kubernetes nor the project has this kind", "did you mean --owns core/v1/Secret?"},
		"core/v1/Secrets":    {"--owns core/v1/Secrets: neither Kubernetes nor the project has this kind", "did you mean --owns core/v1/Secret?"},
		"ship/v1/Fregate":    {"--owns ship/v1/Fregate: neither Kubernetes nor the project has this kind", "did you mean --owns ship/v1/Frigate?"},
		"ship/v1/Ghost":      {"--owns ship/v1/Ghost: neither Kubernetes nor the project has this kind", "did you mean"},
		"zzzzzzzzz/v9/Qqqq":  {"--owns zzzzzzzzz/v9/Qqqq: neither Kubernetes nor the project has this kind", "use a kind of Kubernetes " + KubernetesVersion + " or of the project"},
	} {
		_, err := c.Target("owns", value)
		if value == "ship/v1/Ghost" { // several kinds are equally near
			if err == nil || err.Error() != want.err {
				t.Errorf("%s: %v", value, err)
			}
			continue
		}
		judge(t, value, err, want)
	}
}

func TestAddFeatures(t *testing.T) {
	t.Parallel()
	frigate := Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Frigate", API: &API{Namespaced: true},
		Controllers: []Controller{{"frigate"}, {"frigate-backup"}}}
	c := &Config{Domain: "example.org", Resources: []Resource{frigate}}
	full, err := c.AddFeatures(frigate, "frigate", Features{Owns: []string{"core/v1/Service", "apps/v1/Deployment"}, Labels: []string{"b=2", "a=1", "a=1"}})
	if err != nil {
		t.Fatal(err)
	}
	want := Features{Owns: []string{"apps/v1/Deployment", "core/v1/Service"}, Labels: []string{"a=1", "b=2"}}
	if diff := cmp.Diff(want, full); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	c.PutFeatures(frigate, "frigate", full)
	c.PutFeatures(frigate, "frigate-backup", Features{Finalizer: true, Watches: []string{"core/v1/Secret"}})
	if more, err := c.AddFeatures(frigate, "frigate", Features{Owns: []string{"core/v1/ConfigMap"}, Finalizer: true}); err != nil || len(more.Owns) != 3 || !more.Finalizer || len(more.Labels) != 2 {
		t.Errorf("with more: %+v, error %v", more, err)
	}
	all := Features{Owns: want.Owns, Watches: []string{"core/v1/Secret"}, Labels: want.Labels, Finalizer: true}
	if diff := cmp.Diff(all, c.AllFeatures(Resource{Group: "ship", Version: "v1", Kind: "Frigate"})); diff != "" {
		t.Errorf("of all controllers (-want +got):\n%s", diff)
	}
	_, err = c.AddFeatures(frigate, "frigate-backup", Features{Labels: []string{"a=2"}})
	judge(t, "two values", err, verdict{"--label a=2: controllers of Frigate select a=1",
		"omit it, or change the label in the code, in the sample and in PROJECT"})
	for _, bad := range []string{"a", "=x", "a b=c", "a=b c", "-a=b", "x/y/z=b", "a=" + strings.Repeat("x", 64)} {
		if _, err := c.AddFeatures(frigate, "frigate", Features{Labels: []string{bad}}); err == nil {
			t.Errorf("the label %q is accepted", bad)
		}
	}
}

// TestFeaturesInPROJECT checks that recorded features can be read, and that keys of other
// tools stay.
func TestFeaturesInPROJECT(t *testing.T) {
	t.Parallel()
	src := "version: \"3\"\nplugins:\n  controllers.operon.dev/v1:\n    mine: too # yes\n  other.example.org/v1: {}\n"
	c, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	r := Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "Frigate"}
	p := Features{Owns: []string{"apps/v1/Deployment"}, Watches: []string{"core/v1/Secret"}, Labels: []string{"a=1"}, Finalizer: true}
	c.PutFeatures(r, "frigate", p)
	out, err := c.Encode([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{"mine: too # yes", "other.example.org/v1: {}"} {
		if !strings.Contains(string(out), kept) {
			t.Errorf("%q is missing:\n%s", kept, out)
		}
	}
	again, err := Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again.Features(r, "frigate")); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if !again.Features(r, "other").IsZero() {
		t.Error("another controller has the same features")
	}
}
