package utils

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// CountWebhookRequests returns a function that returns the number of requests since
// then to the webhook at a URL path in this process. It reads the metrics of
// controller-runtime's webhook server.
func CountWebhookRequests(path string) func() (int, error) {
	count := func() (int, error) {
		families, err := metrics.Registry.Gather()
		requests := 0
		for _, family := range families {
			if family.GetName() != "controller_runtime_webhook_requests_total" {
				continue
			}
			for _, metric := range family.GetMetric() {
				for _, label := range metric.GetLabel() {
					if label.GetName() == "webhook" && label.GetValue() == path {
						requests += int(metric.GetCounter().GetValue())
					}
				}
			}
		}
		return requests, err
	}
	before, err := count()
	return func() (int, error) {
		if err != nil {
			return 0, err
		}
		now, err := count()
		return now - before, err
	}
}

// InvalidFields returns the paths of the fields in a validation error, in order. For
// any other error it returns the text.
func InvalidFields(err error) []string {
	if err == nil {
		return nil
	}
	var invalid *apierrors.StatusError
	if !errors.As(err, &invalid) || invalid.ErrStatus.Details == nil {
		return []string{err.Error()}
	}
	var fields []string
	for _, cause := range invalid.ErrStatus.Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}
