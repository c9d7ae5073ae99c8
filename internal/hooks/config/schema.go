package config

// shape is a schema for a value of a configuration. It has the subset of JSON Schema that
// the engine's schema uses.
type shape struct {
	kind     string            // object, array, string, integer, boolean, or "" for any
	keys     map[string]*shape // properties of an object
	rest     *shape            // the schema of other keys; nil allows none
	required []string
	min      int // minimum number of keys or items
	max      int // maximum number; 0 means unlimited
	items    *shape
	enum     []string
}

var (
	text    = &shape{kind: "string"}
	integer = &shape{kind: "integer"}
	boolean = &shape{kind: "boolean"}
	texts   = list(0, text)
	some    = list(1, text)
)

func list(least int, items *shape) *shape { return &shape{kind: "array", min: least, items: items} }

func oneOf(values ...string) *shape { return &shape{kind: "string", enum: values} }

func object(required []string, keys map[string]*shape) *shape {
	return &shape{kind: "object", keys: keys, required: required}
}

func (s *shape) least(n int) *shape { s.min = n; return s }
func (s *shape) most(n int) *shape  { s.max = n; return s }

var nameSelector = object([]string{"matchNames"}, map[string]*shape{"matchNames": texts})

var labelSelector = object(nil, map[string]*shape{
	"matchLabels": {kind: "object", rest: text},
	"matchExpressions": list(0, object([]string{"key", "operator"}, map[string]*shape{
		"key":      text,
		"operator": oneOf("In", "NotIn", "Exists", "DoesNotExist"),
		"values":   texts,
	})),
}).least(1).most(2)

var events = list(0, oneOf("Added", "Modified", "Deleted"))

var schedule = object([]string{"crontab"}, map[string]*shape{
	"name":                 text,
	"crontab":              text,
	"allowFailure":         boolean,
	"includeSnapshotsFrom": some,
	"queue":                text,
	"group":                text,
})

var kubernetes = object([]string{"kind"}, map[string]*shape{
	"name":                         text,
	"apiVersion":                   text,
	"kind":                         text,
	"executeHookOnEvent":           events,
	"watchEvent":                   events,
	"executeHookOnSynchronization": boolean,
	"waitForSynchronization":       boolean,
	"keepFullObjectsInMemory":      boolean,
	"allowFailure":                 boolean,
	"resynchronizationPeriod":      text,
	"includeSnapshotsFrom":         some,
	"jqFilter":                     text,
	"queue":                        text,
	"group":                        text,
	"nameSelector":                 nameSelector,
	"labelSelector":                labelSelector,
	"fieldSelector": object([]string{"matchExpressions"}, map[string]*shape{
		"matchExpressions": list(0, object(nil, map[string]*shape{
			"field":    text,
			"operator": oneOf("=", "==", "Equals", "!=", "NotEquals"),
			"value":    text,
		}).least(3).most(3)),
	}),
	"namespace": object(nil, map[string]*shape{
		"nameSelector":  nameSelector,
		"labelSelector": labelSelector,
	}).least(1).most(2),
})

var admission = object([]string{"name"}, map[string]*shape{
	"name":                 text,
	"group":                text,
	"includeSnapshotsFrom": some,
	"failurePolicy":        oneOf("Ignore", "Fail"),
	"sideEffects":          oneOf("None", "NoneOnDryRun"),
	"timeoutSeconds":       integer,
	"matchConditions": list(0, &shape{kind: "object", required: []string{"expression", "name"}, rest: &shape{},
		keys: map[string]*shape{"expression": text, "name": text}}),
	"labelSelector": labelSelector,
	"namespace":     object([]string{"labelSelector"}, map[string]*shape{"labelSelector": labelSelector}),
	"rules": list(1, object([]string{"apiVersions", "apiGroups", "resources", "operations"}, map[string]*shape{
		"apiVersions": some,
		"apiGroups":   some,
		"resources":   some,
		"operations":  list(1, oneOf("CREATE", "UPDATE", "DELETE", "CONNECT", "*")),
		"scope":       oneOf("Cluster", "Namespaced", "*"),
	})),
})

var conversion = object([]string{"name", "crdName", "conversions"}, map[string]*shape{
	"name":                 text,
	"group":                text,
	"includeSnapshotsFrom": some,
	"crdName":              text,
	"conversions": list(1, object([]string{"fromVersion", "toVersion"}, map[string]*shape{
		"fromVersion": text,
		"toVersion":   text,
	})),
})

// version1 is the schema of configVersion v1. It needs two keys: the version and at least
// one binding.
var version1 = object([]string{"configVersion"}, map[string]*shape{
	"configVersion":                      oneOf("v1"),
	"settings":                           object(nil, map[string]*shape{"executionMinInterval": text, "executionBurst": integer}),
	"onStartup":                          integer,
	"schedule":                           list(1, schedule),
	"kubernetes":                         list(1, kubernetes),
	"kubernetesValidating":               list(1, admission),
	"kubernetesMutating":                 list(1, admission),
	"kubernetesCustomResourceConversion": list(1, conversion),
}).least(2)

// version0 is the schema of a configuration without configVersion.
var version0 = object(nil, map[string]*shape{
	"onStartup":         integer,
	"schedule":          list(0, &shape{kind: "object", rest: &shape{}}),
	"onKubernetesEvent": list(0, &shape{kind: "object", rest: &shape{}}),
}).least(1)
