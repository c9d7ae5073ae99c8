package condition

import "slices"

// celType is a type of CEL, with the properties that determine which operations are valid.
type celType struct {
	name   string              // the name in CEL
	fields map[string]*celType // the fields of an object
	item   *celType            // the type of list items or map values; nil if unknown
}

var (
	boolType       = &celType{name: "bool"}
	stringType     = &celType{name: "string"}
	intType        = &celType{name: "int"}
	timestampType  = &celType{name: "google.protobuf.Timestamp"}
	dynType        = &celType{name: "dyn"}
	authorizerType = &celType{name: "kubernetes.authorization.Authorizer"}
)

func listOf(item *celType) *celType { return &celType{name: "list", item: item} }
func mapOf(item *celType) *celType  { return &celType{name: "map", item: item} }

// literal returns the type of a literal by its name.
func literal(name string) *celType {
	for _, t := range []*celType{boolType, stringType, intType} {
		if t.name == name {
			return t
		}
	}
	return &celType{name: name}
}

type fields = map[string]*celType

// variables are the variables of matchConditions. The request has the fields of an
// AdmissionReview request, except the objects and the uid. The namespace lacks some fields.
// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchconditions
var variables = fields{
	"object": dynType, "oldObject": dynType, "authorizer": authorizerType,
	"request": {name: "kubernetes.AdmissionRequest", fields: fields{
		"kind": groupKind, "requestKind": groupKind, "resource": groupResource, "requestResource": groupResource,
		"subResource": stringType, "requestSubResource": stringType, "name": stringType, "namespace": stringType,
		"operation": stringType, "dryRun": boolType, "options": dynType,
		"userInfo": {name: "kubernetes.UserInfo", fields: fields{
			"username": stringType, "uid": stringType, "groups": listOf(stringType), "extra": mapOf(listOf(stringType)),
		}},
	}},
	"namespaceObject": {name: "kubernetes.Namespace", fields: fields{
		"metadata": {name: "kubernetes.NamespaceMetadata", fields: fields{
			"name": stringType, "generateName": stringType, "namespace": stringType, "UID": stringType, "resourceVersion": stringType,
			"labels": mapOf(stringType), "annotations": mapOf(stringType),
			"creationTimestamp": timestampType, "deletionTimestamp": timestampType, "deletionGracePeriodSeconds": intType,
			"generation": intType, "finalizers": listOf(stringType),
		}},
		"spec":   {name: "kubernetes.NamespaceSpec", fields: fields{"finalizers": listOf(stringType)}},
		"status": {name: "kubernetes.NamespaceStatus", fields: fields{"phase": stringType, "conditions": listOf(nil)}},
	}},
}

var (
	groupKind = &celType{name: "kubernetes.GroupVersionKind", fields: fields{
		"group": stringType, "version": stringType, "kind": stringType,
	}}
	groupResource = &celType{name: "kubernetes.GroupVersionResource", fields: fields{
		"group": stringType, "version": stringType, "resource": stringType,
	}}
)

// typeNames are the names of types, which are values in CEL.
var typeNames = []string{
	"bool", "bytes", "double", "duration", "dyn", "google", "int", "list", "map", "net",
	"null_type", "optional_type", "string", "timestamp", "type", "uint", "kubernetes",
}

// functions are the functions that Kubernetes 1.37 accepts in new expressions: the functions of
// CEL and of the Kubernetes libraries.
// https://kubernetes.io/docs/reference/using-api/cel/
var functions = []string{
	"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint",
	"contains", "endsWith", "matches", "size", "startsWith",
	"getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear",
	"getHours", "getMilliseconds", "getMinutes", "getMonth", "getSeconds",
	"charAt", "format", "indexOf", "join", "lastIndexOf", "lowerAscii",
	"replace", "reverse", "split", "strings.quote", "substring", "trim", "upperAscii",
	"find", "findAll",
	"distinct", "first", "flatten", "isSorted", "last", "lists.range", "max", "min", "slice", "sort", "sum",
	"sets.contains", "sets.equivalent", "sets.intersects",
	"hasValue", "optional.none", "optional.of", "optional.ofNonZeroValue", "optional.unwrap", "or", "orValue", "unwrapOpt", "value",
	"allowed", "check", "error", "errored", "fieldSelector", "group", "labelSelector",
	"name", "namespace", "path", "reason", "resource", "serviceAccount", "subresource",
	"add", "asApproximateFloat", "asInteger", "compareTo", "isGreaterThan", "isInteger", "isLessThan", "isQuantity", "quantity", "sign", "sub",
	"getEscapedPath", "getHost", "getHostname", "getPort", "getQuery", "getScheme", "isURL", "url",
	"family", "ip", "ip.isCanonical", "isGlobalUnicast", "isIP", "isLinkLocalMulticast", "isLinkLocalUnicast", "isLoopback", "isUnspecified",
	"cidr", "containsCIDR", "containsIP", "isCIDR", "masked", "prefixLength",
	"isSemver", "major", "minor", "patch", "semver",
	"format.byte", "format.date", "format.datetime", "format.dns1035Label", "format.dns1035LabelPrefix",
	"format.dns1123Label", "format.dns1123LabelPrefix",
	"format.dns1123Subdomain", "format.dns1123SubdomainPrefix", "format.labelValue", "format.named", "format.qualifiedName",
	"format.uri", "format.uuid", "validate",
}

// macroVariables returns the number of arguments of a macro that declare variables.
func macroVariables(macro string, args int) int {
	one := slices.Contains([]string{"all", "exists", "exists_one", "map", "filter", "optMap", "optFlatMap", "sortBy"}, macro)
	two := slices.Contains([]string{"all", "exists", "exists_one", "existsOne", "transformMapEntry"}, macro)
	switch {
	case args == 2 && one, args == 3 && macro == "map":
		return 1
	case args == 3 && two, (args == 3 || args == 4) && (macro == "transformList" || macro == "transformMap"),
		args == 4 && macro == "transformMapEntry":
		return 2
	}
	return 0
}
