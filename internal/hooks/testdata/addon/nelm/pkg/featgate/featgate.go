// Package featgate has the feature gate of nelm that addon-operator enables.
package featgate

type gate struct{}

func (gate) Enable() {}

// FeatGateCleanNullFields does nothing.
var FeatGateCleanNullFields gate
