package schemas

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// quantity matches a resource.Quantity that is a string.
const quantity = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

// knownPackages returns the packages of Kubernetes with types whose JSON differs from
// their fields.
func knownPackages(embeddedMeta bool) map[string]Preset {
	preset := func(others bool, all map[string]Props) Preset {
		return func(*loader.Package) (map[string]Props, bool) { return all, others }
	}
	numberOrText := Props{XIntOrString: true, AnyOf: []Props{{Type: "integer"}, {Type: "string"}}}
	amount := numberOrText
	amount.Pattern = quantity
	anything := Props{XPreserveUnknownFields: new(true)}
	meta := Props{Type: "object"}
	if embeddedMeta {
		meta.Properties = metaProperties()
	}
	return map[string]Preset{
		metav1Path: preset(true, map[string]Props{
			"ObjectMeta": meta,
			"Time":       {Type: "string", Format: "date-time"},
			"MicroTime":  {Type: "string", Format: "date-time"},
			"Duration":   {Type: "string"},
			"Fields":     {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}},
		}),
		"k8s.io/apimachinery/pkg/api/resource":                          preset(false, map[string]Props{"Quantity": amount}),
		"k8s.io/apimachinery/pkg/util/intstr":                           preset(false, map[string]Props{"IntOrString": numberOrText}),
		"k8s.io/apimachinery/pkg/runtime":                               preset(true, map[string]Props{"RawExtension": {Type: "object", XPreserveUnknownFields: new(true)}}),
		"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured":             preset(true, map[string]Props{"Unstructured": {Type: "object"}}),
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1":      preset(true, map[string]Props{"JSON": anything}),
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1": preset(true, map[string]Props{"JSON": anything}),
	}
}

// metaProperties are the properties of embedded metadata that users may set.
func metaProperties() map[string]Props {
	text := Props{Type: "string"}
	texts := Props{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text}}
	return map[string]Props{
		"name":        text,
		"namespace":   text,
		"annotations": texts,
		"labels":      texts,
		"finalizers":  {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}},
	}
}
