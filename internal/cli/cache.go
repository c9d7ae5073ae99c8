package cli

import (
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/fault"
)

// cacheVar names the folder of what operon keeps between runs, or is "off".
const cacheVar = "OPERON_CACHE"

const aboutCache = `

What was read is kept for the next time in the folder ` + cacheVar + `, by default
operon in the user's cache folder; it changes nothing but the time that this takes.
--no-cache does without it, and so does the value off.`

// cacheDir returns the folder of what operon keeps between runs, an absolute
// path, or "" where it keeps nothing.
func (a *App) cacheDir() (string, error) {
	switch dir := a.getenv(cacheVar); {
	case dir == "off":
		return "", nil
	case dir == "":
		home, err := os.UserCacheDir()
		if err != nil {
			return "", nil // no home, nothing kept
		}
		return filepath.Join(home, "operon"), nil
	case filepath.IsAbs(dir):
		return filepath.Clean(dir), nil
	default:
		return "", fault.Usage("give the folder's absolute path, or off", "%s is %q, which is not an absolute path", cacheVar, dir)
	}
}
