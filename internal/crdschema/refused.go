package crdschema

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// setByServer are the fields whose errors mean nothing in files, as API servers replace their values before they validate.
var setByServer = []string{"metadata.generation", "metadata.namespace", "status.storedVersions"}

// Refused returns the errors for which an API server refuses a CRD, as a new one: the errors of the package that the API
// server calls. Their fields start at spec.validation.openAPIV3Schema if all versions have the same schema, otherwise
// at spec.versions[i].schema.openAPIV3Schema.
func Refused(crd apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	crd.Spec.Conversion = crd.Spec.Conversion.DeepCopy() // the only pointer below which there are defaults
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(&crd)
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, &internal, nil); err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
	}
	internal.Status = apiextensions.CustomResourceDefinitionStatus{} // as API servers do
	found := validation.ValidateCustomResourceDefinition(context.Background(), &internal)
	var all field.ErrorList
	for _, err := range found {
		said := contributes(err) && slices.ContainsFunc(found, func(other *field.Error) bool {
			return other.Field == err.Field && !contributes(other)
		})
		if !slices.Contains(setByServer, err.Field) && !said {
			all = append(all, err)
		}
	}
	slices.SortFunc(all, func(a, b *field.Error) int { // the package iterates over maps
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	return all
}

// contributes reports whether an error names one of the four rules that add most to the cost of all rules of a schema.
// If more rules cost the same, the four are random. Usually each of those rules has also an error of its own.
func contributes(err *field.Error) bool {
	return strings.HasPrefix(err.Detail, "contributed to estimated rule cost total")
}

// Reason returns what an error says about its field in one line. The text of a rule that does not compile has several,
// and the rule as a value in Go. A schema, and a list such as all versions, would fill the screen.
func Reason(err *field.Error) string {
	if detail, compiler, is := strings.Cut(err.Detail, "ERROR: <input>:"); is {
		line, _, _ := strings.Cut(compiler, "\n")
		return err.Type.String() + ": " + detail + line
	}
	switch reflect.Indirect(reflect.ValueOf(err.BadValue)).Kind() {
	case reflect.Struct, reflect.Slice:
		return err.Type.String() + ": " + strings.ReplaceAll(err.Detail, "\n", " ")
	}
	return strings.ReplaceAll(err.ErrorBody(), "\n", " ")
}

// RefusedObject returns why an API server refuses an object that is a CRD of the version v1. Other objects, and those
// without the fields of a CRD, have none.
func RefusedObject(o *unstructured.Unstructured) []string {
	var crd apiextensionsv1.CustomResourceDefinition
	if o.GroupVersionKind() != apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition") ||
		runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd) != nil {
		return nil
	}
	var all []string
	for _, err := range Refused(crd) {
		all = append(all, "CustomResourceDefinition "+o.GetName()+": "+err.Field+": "+Reason(err))
	}
	return all
}
