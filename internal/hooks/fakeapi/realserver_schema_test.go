//go:build testall

package fakeapi

import (
	"fmt"
	"strings"
	"testing"
)

// fieldSchemas are the schemas of the fields of the spec of Check, by name.
var fieldSchemas = []struct{ name, schema string }{
	{"oneOf", `{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}`},
	{"anyOf", `{type: object, properties: {a: {type: integer}, b: {type: integer}}, anyOf: [{properties: {a: {minimum: 5}}, required: [a]}, {required: [b]}]}`},
	{"allOf", `{type: integer, allOf: [{minimum: 3}, {maximum: 7}]}`},
	{"not", `{type: string, not: {enum: [bad]}}`},
	{"set", `{type: array, x-kubernetes-list-type: set, items: {type: string}}`},
	{"map", `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name, port], items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer, default: 80}, size: {type: integer}}}}`},
	{"few", `{type: object, maxProperties: 2, minProperties: 1, additionalProperties: {type: string}}`},
	{"dateTime", `{type: string, format: date-time}`},
	{"date", `{type: string, format: date}`},
	{"duration", `{type: string, format: duration}`},
	{"ipv4", `{type: string, format: ipv4}`},
	{"ipv6", `{type: string, format: ipv6}`},
	{"cidr", `{type: string, format: cidr}`},
	{"uri", `{type: string, format: uri}`},
	{"email", `{type: string, format: email}`},
	{"hostname", `{type: string, format: hostname}`},
	{"uuid", `{type: string, format: uuid}`},
	{"mac", `{type: string, format: mac}`},
	{"byte", `{type: string, format: byte}`},
	{"int32", `{type: integer, format: int32}`},
	{"int64", `{type: integer, format: int64}`},
	{"unknownFormat", `{type: string, format: phone}`},
	{"step", `{type: number, multipleOf: 0.5}`},
	{"above", `{type: integer, minimum: 1, exclusiveMinimum: true}`},
	{"below", `{type: number, maximum: 1, exclusiveMaximum: true}`},
	{"nullable", `{type: string, nullable: true}`},
	{"nullableDefault", `{type: string, nullable: true, default: x}`},
	{"notNullable", `{type: string}`},
	{"notNullableDefault", `{type: string, default: x}`},
	{"intOrString", `{x-kubernetes-int-or-string: true}`},
	{"percent", `{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], pattern: '^\d+%$'}`},
	{"embedded", `{type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object, properties: {a: {type: string}}}}}`},
	{"embeddedAny", `{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`},
	{"any", `{x-kubernetes-preserve-unknown-fields: true}`},
	{"some", `{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: object, properties: {a: {type: integer, default: 1}}}}}`},
	{"closed", `{type: object, properties: {a: {type: object, properties: {b: {type: string, default: c}}, default: {}}}}`},
	{"tags", `{type: object, additionalProperties: {type: object, properties: {a: {type: integer, default: 1}}}}`},
	{"list", `{type: array, minItems: 1, maxItems: 2, items: {type: object, properties: {a: {type: string}, b: {type: integer, default: 2}}}}`},
	{"text", `{type: string, minLength: 2, maxLength: 4, pattern: '^[a-zü]*$'}`},
	{"enum", `{type: string, enum: [a, b]}`},
	{"numbers", `{type: integer, enum: [1, 2]}`},
	{"cel", `{type: object, properties: {min: {type: integer}, max: {type: integer}}, x-kubernetes-validations: [{rule: '!has(self.min) || !has(self.max) || self.min <= self.max', message: min must not exceed max}]}`},
	{"celMessage", `{type: string, maxLength: 10, x-kubernetes-validations: [{rule: "self.startsWith('a')", messageExpression: "'not ' + self", reason: FieldValueForbidden}]}`},
	{"celPath", `{type: object, properties: {a: {type: string, maxLength: 10}}, x-kubernetes-validations: [{rule: "!has(self.a) || self.a != 'wrong'", fieldPath: .a, reason: FieldValueRequired}]}`},
	{"celLibrary", `{type: string, maxLength: 40, x-kubernetes-validations: [{rule: "isURL(self) && url(self).getScheme() == 'https'"}]}`},
	{"celError", `{type: array, maxItems: 3, items: {type: integer}, x-kubernetes-validations: [{rule: "self[2] > 0"}]}`},
	{"fixed", `{type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable}]}`},
	{"fixedMap", `{type: array, maxItems: 5, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer, x-kubernetes-validations: [{rule: self >= oldSelf}]}}}}`},
}

// checkCRD has all fieldSchemas.
func checkCRD() string {
	var fields strings.Builder
	for _, f := range fieldSchemas {
		fmt.Fprintf(&fields, "              %s: %s\n", f.name, f.schema)
	}
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: checks.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Check, plural: checks}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: "self.metadata.name != 'forbidden'", message: is a forbidden name}]
        properties:
          metadata: {type: object, properties: {name: {type: string, maxLength: 20}}}
          spec:
            type: object
            properties:
` + fields.String() + `          status:
            type: object
            required: [phase]
            properties:
              phase: {type: string, enum: [New, Done]}
              conditions: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], items: {type: object, required: [type], properties: {type: {type: string}}}}
              count: {type: integer, x-kubernetes-validations: [{rule: self >= oldSelf, message: must not decrease}]}
`
}

// specs are values for the spec of Check. A server accepts some and rejects others.
var specs = []string{
	`{oneOf: {a: x}}`, `{oneOf: {}}`, `{oneOf: {a: x, b: z}}`,
	`{anyOf: {a: 7}}`, `{anyOf: {a: 3}}`, `{anyOf: {a: 3, b: 1}}`, `{anyOf: {}}`,
	`{allOf: 5}`, `{allOf: 1}`, `{allOf: 9}`,
	`{not: good}`, `{not: bad}`,
	`{set: [a, b]}`, `{set: [a, b, a]}`, `{set: [a, a, b, b, a]}`,
	`{map: [{name: a}, {name: b}]}`, `{map: [{name: a, port: 80}, {name: a}]}`, `{map: [{name: a, port: 1}, {name: a, port: 2}]}`, `{map: [{port: 1}]}`,
	`{few: {}}`, `{few: {a: b}}`, `{few: {a: a, b: b, c: c}}`,
	`{dateTime: '2030-01-01T00:00:00Z'}`, `{dateTime: today}`, `{dateTime: '2030-01-01'}`,
	`{date: '2030-01-01'}`, `{date: '2030-13-01'}`,
	`{duration: 1m}`, `{duration: 3 days}`, `{duration: soon}`,
	`{ipv4: 10.0.0.1}`, `{ipv4: 10.0.0.256}`, `{ipv4: '::1'}`,
	`{ipv6: '::1'}`, `{ipv6: 10.0.0.1}`,
	`{cidr: 10.0.0.0/8}`, `{cidr: 10.0.0.0}`,
	`{uri: 'https://example.org/x'}`, `{uri: 'no uri'}`, `{uri: /path}`,
	`{email: a@example.org}`, `{email: nobody}`,
	`{hostname: example.org}`, `{hostname: '-x-'}`,
	`{uuid: 6f9619ff-8b86-4d01-b42d-00cf4fc964ff}`, `{uuid: x}`,
	`{mac: '02:00:00:00:00:01'}`, `{mac: 02}`,
	`{byte: dg==}`, `{byte: '%%%'}`,
	`{int32: 2147483648}`, `{int64: 9223372036854775807}`, `{int32: 1.5}`, `{int32: 2.0}`,
	`{unknownFormat: x}`,
	`{step: 1.5}`, `{step: 1.2}`, `{step: 2}`,
	`{above: 1}`, `{above: 2}`, `{below: 1}`, `{below: 0.9}`,
	`{nullable: null}`, `{nullableDefault: null}`, `{notNullable: null}`, `{notNullableDefault: null}`,
	`{intOrString: 1}`, `{intOrString: a}`, `{intOrString: 1.5}`, `{intOrString: true}`, `{percent: 5}`, `{percent: 5%}`, `{percent: five}`,
	`{embedded: {apiVersion: v1, kind: Pod, metadata: {name: x, labels: {a: b}, nope: 1}, spec: {a: x, b: z}, more: 1}}`,
	`{embedded: {kind: Pod}}`, `{embedded: {apiVersion: v1}}`, `{embedded: {apiVersion: v1, kind: Pod, metadata: {name: 'Bad Name'}}}`,
	`{embedded: {apiVersion: v1, kind: Pod, metadata: {labels: {a: 1}}}}`, `{embedded: {apiVersion: a/b/c, kind: pod}}`,
	`{embeddedAny: {apiVersion: v1, kind: Pod, metadata: {name: x, nope: 1}, more: {a: 1}}}`,
	`{any: 5}`, `{any: {a: [1, x]}}`, `{some: {a: 1, known: {b: 2}}}`, `{closed: {}}`, `{closed: {a: {}, z: 1}}`, `{closed: {a: null}}`,
	`{tags: {x: {}, z: {b: 1}}}`, `{tags: {x: 1}}`,
	`{list: []}`, `{list: [{a: x, c: z}]}`, `{list: [{}, {}, {}]}`, `{list: [1]}`, `{list: [null]}`,
	`{text: a}`, `{text: abc}`, `{text: abcde}`, `{text: ABC}`, `{text: üüüü}`, `{text: 1}`, `{text: 'ABCDE'}`,
	`{enum: a}`, `{enum: c}`, `{numbers: 2}`, `{numbers: 3}`, `{numbers: x}`,
	`{cel: {min: 1, max: 2}}`, `{cel: {min: 3, max: 2}}`, `{cel: {min: x, max: 2}}`,
	`{celMessage: abc}`, `{celMessage: xyz}`, `{celPath: {a: wrong}}`, `{celLibrary: 'https://example.org'}`, `{celLibrary: 'http://example.org'}`,
	`{celError: [1, 2]}`, `{celError: [1, 2, 3]}`,
	`{enum: c, text: a, cel: {min: 3, max: 2}}`, `{text: a, cel: {min: 3, max: 2}}`, `{text: a, above: 0, set: [a, a]}`,
	`[]`, `null`, `x`,
}

// TestSchemasLikeServer creates, changes and patches objects of a kind whose schema uses all
// features of CRD schemas. A real API server gives the same answers.
func TestSchemasLikeServer(t *testing.T) {
	t.Parallel()
	all := []step{
		{do: "create", kind: "ns", text: "{metadata: {name: shop}}"},
		{do: "create", kind: "crd", text: checkCRD()},
	}
	for i, spec := range specs {
		all = append(all, step{do: "create", kind: "checks", text: fmt.Sprintf("{metadata: {name: c%d, namespace: shop}, spec: %s}", i, spec)})
	}
	compareWithServer(t, append(all, []step{
		{"create", "checks", "", "", "{metadata: {name: forbidden, namespace: shop}}"},
		{"create", "checks", "", "", "{metadata: {name: a-name-that-is-too-long, namespace: shop}}"},
		{"create", "checks", "", "", "{metadata: {name: meta, namespace: shop, nope: 1, ownerReferences: [{apiVersion: v1, kind: Pod, name: x}]}}"},
		{"create", "checks", "", "", "{metadata: {name: meta, namespace: shop, finalizers: [1]}}"},
		{"create", "checks", "", "", "{metadata: {name: meta, namespace: shop, creationTimestamp: today}}"},
		{"create", "checks", "", "", "{metadata: {name: meta, namespace: shop, generateName: Bad_, finalizers: [bad], ownerReferences: [{apiVersion: v1, kind: Event, name: x, uid: u}, {apiVersion: a/b/c, kind: Pod, name: x, uid: u}]}, spec: {cel: {min: 2, max: 1}}}"},
		{"create", "checks", "", "", "{metadata: {name: meta, namespace: shop, annotations: {a: null}}, spec: null}"},
		{"create", "checks", "", "", "{metadata: {name: one, namespace: shop}, spec: {fixed: a, fixedMap: [{name: x, size: 5}]}, status: {phase: Nope}}"},
		{"merge", "checks", "shop", "one", "{spec: {fixed: b}}"},
		{"merge", "checks", "shop", "one", "{spec: {fixed: null}}"},
		{"merge", "checks", "shop", "one", "{spec: {fixed: b}}"},
		{"merge", "checks", "shop", "one", "{spec: {fixedMap: [{name: z, size: 1}, {name: x, size: 4}]}}"},
		{"merge", "checks", "shop", "one", "{spec: {fixedMap: [{name: z, size: 1}, {name: x, size: 6}]}}"},
		{"json", "checks", "shop", "one", "[{op: add, path: /spec/set, value: [a, a]}]"},
		{"merge/status", "checks", "shop", "one", "{status: {phase: Nope}}"},
		{"merge/status", "checks", "shop", "one", "{status: {count: 1}}"},
		{"merge/status", "checks", "shop", "one", "{status: {phase: New, conditions: [{type: a}, {type: a}]}}"},
		{"merge/status", "checks", "shop", "one", "{status: {phase: New, count: 2, unknown: 3}}"},
		{"merge/status", "checks", "shop", "one", "{status: {count: 1}}"},
		{"merge/status", "checks", "shop", "one", "{status: {count: 3}, spec: {enum: c}}"},
		{"merge", "checks", "shop", "one", "{status: {phase: Nope}, spec: {unknown: 3}}"},
		// With a stricter schema, values that were valid stay valid until they change.
		{"create", "checks", "", "", "{metadata: {name: old, namespace: shop}, spec: {notNullable: long, text: abcd, set: [a]}}"},
		{"json", "crd", "", "checks.example.com", `[{op: add, path: /spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/text/maxLength, value: 3}]`},
		{"merge", "checks", "shop", "old", "{spec: {notNullable: longer}}"},
		{"merge", "checks", "shop", "old", "{spec: {text: abce}}"},
		{"merge", "checks", "shop", "old", "{spec: {text: ab}}"},
		{"create", "checks", "", "", "{metadata: {name: new, namespace: shop}, spec: {text: abcd}}"},
	}...))
}
