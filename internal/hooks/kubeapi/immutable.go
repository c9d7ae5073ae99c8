package kubeapi

import "k8s.io/apimachinery/pkg/runtime/schema"

// immutableFields are fields that an update cannot change, by kind.
var immutableFields = map[string][]string{
	"CustomResourceDefinition.apiextensions.k8s.io": {"spec.scope", "spec.names.kind", "spec.group", "spec.names.plural"},
	"DaemonSet.apps":                        {"spec.selector"},
	"Deployment.apps":                       {"spec.selector"},
	"ReplicaSet.apps":                       {"spec.selector"},
	"StatefulSet.apps":                      {"spec.selector", "spec.serviceName", "spec.volumeClaimTemplates", "spec.podManagementPolicy"},
	"Job.batch":                             {"spec.selector", "spec.template"},
	"PersistentVolumeClaim":                 {"spec.accessModes", "spec.storageClassName", "spec.volumeName"},
	"Secret":                                {"type"},
	"StorageClass.storage.k8s.io":           {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"},
	"RoleBinding.rbac.authorization.k8s.io": {"roleRef"},
	"ClusterRoleBinding.rbac.authorization.k8s.io": {"roleRef"},
}

// ImmutableFields returns the paths of fields that an API server does not let an update change, such as
// spec.selector.
func ImmutableFields(gk schema.GroupKind) []string { return immutableFields[gk.String()] }
