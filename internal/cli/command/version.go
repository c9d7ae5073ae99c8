package command

import "runtime/debug"

// Version returns the version of operon: a tag, or "devel". The go command records
// the version of `go install` and of a tagged checkout.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
