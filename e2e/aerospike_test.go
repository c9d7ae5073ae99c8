package e2e

import (
	"strings"
	"testing"
)

// TestAerospike goes on where the published walk-through ends: the operator of a
// clustered database runs, and keeps what its users ask for.
func TestAerospike(t *testing.T) {
	t.Parallel()
	i := install(t, cluster, scenario(t, "aerospike"))
	i.run(t)
	ns := cluster.namespace(t, "aerospike", nil)
	t.Run("refuses", func(t *testing.T) {
		_, err := cluster.create(t, objects(t, `
apiVersion: aerospike.dzolotov.tech/v1alpha1
kind: AerospikeCluster
metadata: {name: a, namespace: `+ns+`}
spec: {deployments: 0, replicationFactor: 1}
`)[0])
		for _, field := range []string{"spec.deployments", "spec.replicationFactor"} {
			if err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("the answer does not name %s: %v", field, err)
			}
		}
	})
}
