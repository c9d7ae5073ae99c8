// Command addon judges texts as addon-operator does, by its own code, as package
// judge says. The texts are:
//
//	config-global, config-module  configurations of hooks: what it has against each
//	start      projects: why it does not start, or cannot run a module
//	enabled    projects: which modules are enabled, and what their scripts say
//	patches    projects with what a hook writes, run after run: what becomes of the values
//
// A project is one in JSON.
package main

import (
	"example.com/judge"
	enginelog "github.com/deckhouse/deckhouse/pkg/log"
)

func main() {
	enginelog.SetDefault(enginelog.NewNop())
	judge.Main(map[string]judge.Judge{
		"config-global": judgeConfig("global"), "config-module": judgeConfig("module"),
		"start": judgeStart, "enabled": judgeEnabled, "patches": judgePatches,
	})
}
