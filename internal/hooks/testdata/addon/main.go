// Command addon processes texts with the code of addon-operator; see package oracle. Its functions
// are:
//
//	config-global, config-module  validate configurations of hooks
//	start      start projects, and register the hooks of their modules
//	enabled    run the enabled scripts of projects
//	patches    run hooks of projects that patch values
//
// A project is the JSON encoding of the type project.
package main

import (
	"example.com/oracle"
	enginelog "github.com/deckhouse/deckhouse/pkg/log"
)

func main() {
	enginelog.SetDefault(enginelog.NewNop())
	oracle.Main(map[string]oracle.Func{
		"config-global": validateConfig("global"), "config-module": validateConfig("module"),
		"start": start, "enabled": runEnabled, "patches": runPatches,
	})
}
