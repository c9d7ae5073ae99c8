package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// annotateConversion saves the conversion settings of a CRD, unless they are saved.
func annotateConversion(crd *unstructured.Unstructured) error {
	annotations := crd.GetAnnotations()
	if _, saved := annotations[conversionAnnotation]; saved {
		return nil
	}
	former, _, err := unstructured.NestedMap(crd.Object, "spec", "conversion")
	if err != nil {
		return err
	}
	content, err := json.Marshal(former)
	if err != nil {
		return err
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[conversionAnnotation] = string(content)
	crd.SetAnnotations(annotations)
	return nil
}

// redirectConversion makes the API server send conversions of a CRD to a URL, whose certificate ca
// verifies.
func redirectConversion(crd *unstructured.Unstructured, url string, ca []byte) error {
	if err := annotateConversion(crd); err != nil {
		return err
	}
	return unstructured.SetNestedMap(crd.Object, map[string]any{
		"strategy": "Webhook",
		"webhook": map[string]any{
			"conversionReviewVersions": []any{"v1"},
			"clientConfig":             map[string]any{"url": url, "caBundle": base64Of(ca)},
		},
	}, "spec", "conversion")
}

// revertConversion reverts redirectConversion and annotateConversion.
func revertConversion(crd *unstructured.Unstructured) error {
	annotations := crd.GetAnnotations()
	content, saved := annotations[conversionAnnotation]
	if !saved {
		return nil
	}
	delete(annotations, conversionAnnotation)
	crd.SetAnnotations(annotations)
	var former map[string]any
	if err := json.Unmarshal([]byte(content), &former); err != nil {
		return err
	}
	return unstructured.SetNestedMap(crd.Object, former, "spec", "conversion")
}

// changeCRD reads, changes and writes a CRD. It retries after a conflict.
func (c *Cluster) changeCRD(ctx context.Context, name string, change func(*unstructured.Unstructured) error) error {
	for {
		crd, err := c.Get(ctx, crdKind, "", name)
		if err != nil {
			return err
		}
		if err := change(crd); err != nil {
			return fmt.Errorf("CustomResourceDefinition %s: %w", name, err)
		}
		if _, err = c.Update(ctx, crdKind, crd, ""); !apierrors.IsConflict(err) {
			return err
		}
	}
}
