package project

import "testing"

func TestSetMultiGroup(t *testing.T) {
	t.Parallel()
	c := &Config{Repo: "x.org/f", Domain: "x.org", Resources: []Resource{
		{Group: "ship", Domain: "x.org", Version: "v1", Kind: "Frigate", Path: "x.org/f/api/v1", API: &API{}},
		{Group: "ship", Domain: "x.org", Version: "v2", Kind: "Frigate", Path: "x.org/f/apis/v2", API: &API{}},
		{Domain: "x.org", Version: "v1", Kind: "Plain", Path: "x.org/f/api/v1", API: &API{}},
		{Group: "apps", Version: "v1", Kind: "Deployment", Path: "k8s.io/api/apps/v1", Core: true, Controller: true},
	}}
	before := c.Clone()
	want := []string{"x.org/f/api/ship/v1", "x.org/f/apis/v2", "x.org/f/api/v1", "k8s.io/api/apps/v1"}
	c.SetMultiGroup(true)
	for i, r := range c.Resources {
		if r.Path != want[i] {
			t.Errorf("%s %s is at %s, want %s", r.Version, r.Kind, r.Path, want[i])
		}
	}
	c.SetMultiGroup(false)
	for i, r := range c.Resources {
		if r.Path != before.Resources[i].Path {
			t.Errorf("back again: %s %s is at %s, want %s", r.Version, r.Kind, r.Path, before.Resources[i].Path)
		}
	}
}

func TestValidateSwitch(t *testing.T) {
	t.Parallel()
	c := &Config{Repo: "x.org/f", Domain: "x.org", MultiGroup: true, Resources: []Resource{
		{Group: "ship", Domain: "x.org", Version: "v1", Kind: "Frigate", API: &API{CRDVersion: "v1"}},
		{Group: "crew", Domain: "x.org", Version: "v1", Kind: "Captain", API: &API{CRDVersion: "v1"}},
	}}
	if err := c.ValidateLayout(); err != nil {
		t.Fatal(err)
	}
	c.SetMultiGroup(false)
	const want = "the project has kinds in the groups ship.x.org, crew.x.org; without multigroup it can have one group"
	if err := c.ValidateLayout(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	c.Resources = c.Resources[:1]
	if err := c.ValidateLayout(); err != nil {
		t.Error(err)
	}
}
