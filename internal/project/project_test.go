package project

import "testing"

func TestGroupDomain(t *testing.T) {
	c := Config{Domain: "keda.sh", Resources: []Resource{
		{Group: "keda", Domain: "sh", API: &API{}},
		{Group: "certs", Domain: "io"}, // only a controller
		{Group: "both", Domain: "io", API: &API{}},
		{Group: "both", Domain: "keda.sh", API: &API{}},
		{Group: "whole.io", API: &API{}},
	}}
	for group, want := range map[string]string{"keda": "sh", "certs": "keda.sh", "both": "keda.sh", "whole.io": "", "new": "keda.sh"} {
		if got := c.GroupDomain(group); got != want {
			t.Errorf("GroupDomain(%q) = %q, want %q", group, got, want)
		}
	}
}

func TestFindAndPut(t *testing.T) {
	t.Parallel()
	c := &Config{Domain: "example.org"}
	c.Put(Resource{Group: "ship", Domain: "io", Version: "v1", Kind: "Sloop", External: true})
	c.Put(sloop)
	if r := c.Find("ship", "v1", "Sloop"); r == nil || r.External {
		t.Errorf("found %+v, want the project's own", r)
	}
	if r := c.Find("ship", "v2", "Sloop"); r != nil {
		t.Errorf("found %+v in another version", r)
	}
	changed := sloop
	changed.Plural, changed.Controller = "sloops", false
	c.Put(changed)
	if r := c.Find("ship", "v1", "Sloop"); len(c.Resources) != 2 || r.Controller || r.Plural != "" {
		t.Errorf("after Put: %+v", c.Resources)
	}
	c.Find("ship", "v1", "Sloop").Plural = "sloops" // as a user could write it
	c.Put(changed)
	if r := c.Find("ship", "v1", "Sloop"); r.Plural != "sloops" {
		t.Errorf("Put removed the recorded plural")
	}
	// kubebuilder derives an invalid plural for such kinds.
	c.Put(Resource{Group: "ship", Domain: "example.org", Version: "v1", Kind: "DNS"})
	if r := c.Find("ship", "v1", "DNS"); r.Plural != "dns" {
		t.Errorf("plural of DNS is %q", r.Plural)
	}
	if got := (&Config{ProjectName: "ks"}).Namespace(); got != "ks-system" {
		t.Errorf("namespace %q", got)
	}
}
