package config

// jsonSchema is the schema of a value in a configuration. It has the subset of JSON Schema
// that the engine's schema uses.
type jsonSchema struct {
	typ        string                 // object, array, string, integer, boolean, or "" for any type
	properties map[string]*jsonSchema // known keys of an object
	additional *jsonSchema            // the schema of other keys; nil means that they are invalid
	required   []string
	min        int // minimum number of keys or items
	max        int // maximum number of keys; 0 means unlimited
	items      *jsonSchema
	enum       []string
}

var (
	text          = &jsonSchema{typ: "string"}
	integer       = &jsonSchema{typ: "integer"}
	boolean       = &jsonSchema{typ: "boolean"}
	texts         = list(0, text)
	nonEmptyTexts = list(1, text)
)

func list(atLeast int, items *jsonSchema) *jsonSchema {
	return &jsonSchema{typ: "array", min: atLeast, items: items}
}

func oneOf(values ...string) *jsonSchema { return &jsonSchema{typ: "string", enum: values} }

func object(required []string, properties map[string]*jsonSchema) *jsonSchema {
	return &jsonSchema{typ: "object", properties: properties, required: required}
}

func (s *jsonSchema) atLeast(n int) *jsonSchema { s.min = n; return s }
func (s *jsonSchema) atMost(n int) *jsonSchema  { s.max = n; return s }

var nameSelector = object([]string{"matchNames"}, map[string]*jsonSchema{"matchNames": texts})

var labelSelector = object(nil, map[string]*jsonSchema{
	"matchLabels": {typ: "object", additional: text},
	"matchExpressions": list(0, object([]string{"key", "operator"}, map[string]*jsonSchema{
		"key":      text,
		"operator": oneOf("In", "NotIn", "Exists", "DoesNotExist"),
		"values":   texts,
	})),
}).atLeast(1).atMost(2)

var events = list(0, oneOf("Added", "Modified", "Deleted"))

var schedule = object([]string{"crontab"}, map[string]*jsonSchema{
	"name":                 text,
	"crontab":              text,
	"allowFailure":         boolean,
	"includeSnapshotsFrom": nonEmptyTexts,
	"queue":                text,
	"group":                text,
})

var kubernetes = object([]string{"kind"}, map[string]*jsonSchema{
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
	"includeSnapshotsFrom":         nonEmptyTexts,
	"jqFilter":                     text,
	"queue":                        text,
	"group":                        text,
	"nameSelector":                 nameSelector,
	"labelSelector":                labelSelector,
	"fieldSelector": object([]string{"matchExpressions"}, map[string]*jsonSchema{
		"matchExpressions": list(0, object(nil, map[string]*jsonSchema{
			"field":    text,
			"operator": oneOf("=", "==", "Equals", "!=", "NotEquals"),
			"value":    text,
		}).atLeast(3).atMost(3)),
	}),
	"namespace": object(nil, map[string]*jsonSchema{
		"nameSelector":  nameSelector,
		"labelSelector": labelSelector,
	}).atLeast(1).atMost(2),
})

var admission = object([]string{"name"}, map[string]*jsonSchema{
	"name":                 text,
	"group":                text,
	"includeSnapshotsFrom": nonEmptyTexts,
	"failurePolicy":        oneOf("Ignore", "Fail"),
	"sideEffects":          oneOf("None", "NoneOnDryRun"),
	"timeoutSeconds":       integer,
	"matchConditions": list(0, &jsonSchema{typ: "object", required: []string{"expression", "name"}, additional: &jsonSchema{},
		properties: map[string]*jsonSchema{"expression": text, "name": text}}),
	"labelSelector": labelSelector,
	"namespace":     object([]string{"labelSelector"}, map[string]*jsonSchema{"labelSelector": labelSelector}),
	"rules": list(1, object([]string{"apiVersions", "apiGroups", "resources", "operations"}, map[string]*jsonSchema{
		"apiVersions": nonEmptyTexts,
		"apiGroups":   nonEmptyTexts,
		"resources":   nonEmptyTexts,
		"operations":  list(1, oneOf("CREATE", "UPDATE", "DELETE", "CONNECT", "*")),
		"scope":       oneOf("Cluster", "Namespaced", "*"),
	})),
})

var conversion = object([]string{"name", "crdName", "conversions"}, map[string]*jsonSchema{
	"name":                 text,
	"group":                text,
	"includeSnapshotsFrom": nonEmptyTexts,
	"crdName":              text,
	"conversions": list(1, object([]string{"fromVersion", "toVersion"}, map[string]*jsonSchema{
		"fromVersion": text,
		"toVersion":   text,
	})),
})

// schemaV1 is the schema of configVersion v1. It requires two keys: the version and at least
// one binding.
var schemaV1 = object([]string{"configVersion"}, map[string]*jsonSchema{
	"configVersion":                      oneOf("v1"),
	"settings":                           object(nil, map[string]*jsonSchema{"executionMinInterval": text, "executionBurst": integer}),
	"onStartup":                          integer,
	"schedule":                           list(1, schedule),
	"kubernetes":                         list(1, kubernetes),
	"kubernetesValidating":               list(1, admission),
	"kubernetesMutating":                 list(1, admission),
	"kubernetesCustomResourceConversion": list(1, conversion),
}).atLeast(2)

// schemaV0 is the schema of a configuration without configVersion.
var schemaV0 = object(nil, map[string]*jsonSchema{
	"onStartup":         integer,
	"schedule":          list(0, &jsonSchema{typ: "object", additional: &jsonSchema{}}),
	"onKubernetesEvent": list(0, &jsonSchema{typ: "object", additional: &jsonSchema{}}),
}).atLeast(1)
