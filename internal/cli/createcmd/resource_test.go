package createcmd

import (
	"testing"

	"github.com/operon-dev/operon/internal/project"
)

func TestOwnFile(t *testing.T) {
	t.Parallel()
	web := project.Resource{Group: "ship", Version: "v1", Kind: "Web", Controllers: []project.Controller{{Name: "web-backup"}}}
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
		if got := ownFile(name, web); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
