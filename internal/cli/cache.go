package cli

import (
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/resultcache"
)

// cacheVar names the folder of what operon keeps between runs, or is "off".
const cacheVar = "OPERON_CACHE"

const aboutCache = `

What was read is kept for the next time in the folder ` + cacheVar + `, by default
operon in the user's cache folder; it changes nothing but the time that this takes.
--no-cache does without it, and so does the value off. A go command that is a
script, as version managers have one, may answer otherwise each time, and is always
asked: put the folder of the real one ahead of it on the PATH to save that.`

// cacheDir returns the folder of what operon keeps between runs, an absolute
// path, or "" where it keeps nothing.
func (a *App) cacheDir() (string, error) {
	dir := resultcache.Folder(a.getenv)
	if dir != "" && !filepath.IsAbs(dir) {
		return "", fault.Usage("give the folder's absolute path, or off", "%s is %q, which is not an absolute path", cacheVar, dir)
	}
	return dir, nil
}
