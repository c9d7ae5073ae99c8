package condition

import "slices"

// kind is a type with the properties that decide which operations are valid.
type kind struct {
	name   string           // as CEL calls it
	fields map[string]*kind // of an object
	item   *kind            // of a list or a map, or nil when it is not known
}

var (
	truth    = &kind{name: "bool"}
	text     = &kind{name: "string"}
	number   = &kind{name: "int"}
	when     = &kind{name: "google.protobuf.Timestamp"}
	anything = &kind{name: "dyn"}
	opaque   = &kind{name: "kubernetes.authorization.Authorizer"}
)

func listOf(item *kind) *kind { return &kind{name: "list", item: item} }
func mapOf(item *kind) *kind  { return &kind{name: "map", item: item} }

func literal(name string) *kind {
	for _, k := range []*kind{truth, text, number} {
		if k.name == name {
			return k
		}
	}
	return &kind{name: name}
}

type fields = map[string]*kind

// variables are the variables of matchConditions. The request has the fields of an
// AdmissionReview request except the objects and the uid. The namespace has some fields.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchconditions
var variables = fields{
	"object": anything, "oldObject": anything, "authorizer": opaque,
	"request": {name: "kubernetes.AdmissionRequest", fields: fields{
		"kind": groupKind, "requestKind": groupKind, "resource": groupResource, "requestResource": groupResource,
		"subResource": text, "requestSubResource": text, "name": text, "namespace": text, "operation": text, "dryRun": truth, "options": anything,
		"userInfo": {name: "kubernetes.UserInfo", fields: fields{"username": text, "uid": text, "groups": listOf(text), "extra": mapOf(listOf(text))}},
	}},
	"namespaceObject": {name: "kubernetes.Namespace", fields: fields{
		"metadata": {name: "kubernetes.NamespaceMetadata", fields: fields{
			"name": text, "generateName": text, "namespace": text, "labels": mapOf(text), "annotations": mapOf(text), "UID": text, "resourceVersion": text,
			"creationTimestamp": when, "deletionTimestamp": when, "deletionGracePeriodSeconds": number, "generation": number, "finalizers": listOf(text),
		}},
		"spec":   {name: "kubernetes.NamespaceSpec", fields: fields{"finalizers": listOf(text)}},
		"status": {name: "kubernetes.NamespaceStatus", fields: fields{"phase": text, "conditions": listOf(nil)}},
	}},
}

var (
	groupKind     = &kind{name: "kubernetes.GroupVersionKind", fields: fields{"group": text, "version": text, "kind": text}}
	groupResource = &kind{name: "kubernetes.GroupVersionResource", fields: fields{"group": text, "version": text, "resource": text}}
)

// types are names of types, which are values.
var types = []string{"bool", "bytes", "double", "duration", "dyn", "google", "int", "list", "map", "net", "null_type", "optional_type", "string", "timestamp", "type", "uint", "kubernetes"}

// functions are the functions that Kubernetes 1.37 accepts in new expressions: those of
// CEL and of the Kubernetes libraries.
// https://kubernetes.io/docs/reference/using-api/cel/
var functions = []string{
	"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint",
	"contains", "endsWith", "matches", "size", "startsWith",
	"getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds", "getMinutes", "getMonth", "getSeconds",
	"charAt", "format", "indexOf", "join", "lastIndexOf", "lowerAscii", "replace", "reverse", "split", "strings.quote", "substring", "trim", "upperAscii",
	"find", "findAll",
	"distinct", "first", "flatten", "isSorted", "last", "lists.range", "max", "min", "slice", "sort", "sum",
	"sets.contains", "sets.equivalent", "sets.intersects",
	"hasValue", "optional.none", "optional.of", "optional.ofNonZeroValue", "optional.unwrap", "or", "orValue", "unwrapOpt", "value",
	"allowed", "check", "error", "errored", "fieldSelector", "group", "labelSelector", "name", "namespace", "path", "reason", "resource", "serviceAccount", "subresource",
	"add", "asApproximateFloat", "asInteger", "compareTo", "isGreaterThan", "isInteger", "isLessThan", "isQuantity", "quantity", "sign", "sub",
	"getEscapedPath", "getHost", "getHostname", "getPort", "getQuery", "getScheme", "isURL", "url",
	"family", "ip", "ip.isCanonical", "isGlobalUnicast", "isIP", "isLinkLocalMulticast", "isLinkLocalUnicast", "isLoopback", "isUnspecified",
	"cidr", "containsCIDR", "containsIP", "isCIDR", "masked", "prefixLength",
	"isSemver", "major", "minor", "patch", "semver",
	"format.byte", "format.date", "format.datetime", "format.dns1035Label", "format.dns1035LabelPrefix", "format.dns1123Label", "format.dns1123LabelPrefix",
	"format.dns1123Subdomain", "format.dns1123SubdomainPrefix", "format.labelValue", "format.named", "format.qualifiedName", "format.uri", "format.uuid", "validate",
}

// bound is the number of macro arguments that declare variables.
func bound(macro string, args int) int {
	one := slices.Contains([]string{"all", "exists", "exists_one", "map", "filter", "optMap", "optFlatMap", "sortBy"}, macro)
	two := slices.Contains([]string{"all", "exists", "exists_one", "existsOne", "transformMapEntry"}, macro)
	switch {
	case args == 2 && one, args == 3 && macro == "map":
		return 1
	case args == 3 && two, (args == 3 || args == 4) && (macro == "transformList" || macro == "transformMap"), args == 4 && macro == "transformMapEntry":
		return 2
	}
	return 0
}
