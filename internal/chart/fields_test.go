package chart

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestInvalidFields expects the fields that API servers refuse in strict mode, and no others.
func TestInvalidFields(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, creationTimestamp: null, labels: {a: b}}\nspec: {replicas: 2, selector: {matchLabels: {a: b}}, strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}, " +
			"template: {metadata: {}, spec: {containers: [{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}, ports: [{containerPort: 80}]}]}}}\nstatus: {replicas: 1}": nil,
		"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: b}\ndata: {b: YQ==}\ntype: Opaque":           nil,
		"apiVersion: example.org/v1\nkind: Boat\nmetadata: {name: a}\nanything: 1":                                       nil,
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replica: 2}":                                 {`unknown field "spec.replica"`},
		"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{imge: a}]}}}": {`unknown field "spec.template.spec.containers[0].imge"`},
		"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a, label: {}}\nspec: {jobTemplate: {schedule: a}}":        {`unknown field "metadata.label"`, `unknown field "spec.jobTemplate.schedule"`},
		"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {port: 80, type: ClusterIP}":                          {`unknown field "spec.port"`},
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec: {replicas: many}":                            {"cannot unmarshal string into Go struct field StatefulSetSpec.spec.replicas of type int32"},
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {port: 80}":                                         {"cannot unmarshal number into Go struct field ConfigMap.data of type string"},
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		if got := invalidFields(o); !slices.Equal(got, want) {
			t.Errorf("%s\ngot  %q\nwant %q", text, got, want)
		}
	}
}
