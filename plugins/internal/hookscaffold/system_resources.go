package hookscaffold

// systemResources are the resources that have objects in every cluster by default.
var systemResources = map[string]bool{
	"apiservices":                 true,
	"clusterrolebindings":         true,
	"clusterroles":                true,
	"configmaps":                  true,
	"customresourcedefinitions":   true,
	"endpoints":                   true,
	"endpointslices":              true,
	"events":                      true,
	"flowschemas":                 true,
	"ipaddresses":                 true,
	"leases":                      true,
	"namespaces":                  true,
	"priorityclasses":             true,
	"prioritylevelconfigurations": true,
	"rolebindings":                true,
	"roles":                       true,
	"serviceaccounts":             true,
	"servicecidrs":                true,
	"services":                    true,
}
