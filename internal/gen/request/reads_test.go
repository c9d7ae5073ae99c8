package request

import "testing"

func TestMissing(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"./...": true, "./internal/...": true, "./internal/webhook/...": true, "./internal/webhook": true, "./internal/webhook/": true,
		"example.org/fleet/api": true, // may be the folder
		".":                     false, "./internal": false, "./internal/web/...": false, "./internal/webhook/v1": false, "./api/...": false,
	} {
		jobs := Jobs{List: []*Job{
			{Generators: []Generator{{Name: "webhook"}}, Paths: []string{"./api", pattern}},
			{Generators: []Generator{{Name: "rbac"}}, Paths: []string{"./..."}},
		}}
		if missing := jobs.Missing("webhook", "internal/webhook"); (len(missing) == 0) != want {
			t.Errorf("%s: %v", pattern, missing)
		}
		if missing := jobs.Missing("crd", "internal/webhook"); len(missing) > 0 {
			t.Errorf("no job has the generator: %v", missing)
		}
	}
}
