// Package featgate has a switch.
package featgate

type gate struct{}

func (gate) Enable() {}

// FeatGateCleanNullFields does nothing.
var FeatGateCleanNullFields gate
