package generatecmd

import (
	"github.com/operon-dev/operon/internal/cli/command"
)

const aboutCache = `

What was read is kept for the next time in the folder ` + command.CacheVar + `, by default
operon in the user's cache folder; it changes nothing but the time that this takes.
--no-cache does without it, and so does the value off. A go command that is a
script, as version managers have one, may answer otherwise each time, and is always
asked: put the folder of the real one ahead of it on the PATH to save that.`
