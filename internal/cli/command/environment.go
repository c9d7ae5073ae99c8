package command

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/operon-dev/operon/internal/environ"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/resultcache"
)

// Getenv returns the value of an environment variable, or "".
func (a *App) Getenv(name string) string { return environ.Get(a.Environ, name) }

// cacheVar is the environment variable with the cache folder, or "off".
const cacheVar = "OPERON_CACHE"

// CacheDir returns the absolute path of the cache folder, or "" if the cache is off or
// the user has no cache folder.
func (a *App) CacheDir() (string, error) {
	dir := resultcache.Folder(a.Getenv)
	if dir != "" && !filepath.IsAbs(dir) && a.Getenv(cacheVar) == "" {
		return "", fault.Usage("set HOME, or XDG_CACHE_HOME, to an absolute path", "the cache folder of the user is %q, which is not an absolute path", dir)
	}
	if dir != "" && !filepath.IsAbs(dir) {
		return "", fault.Usage("use an absolute path, or off", "%s is %q, which is not an absolute path", cacheVar, dir)
	}
	return dir, nil
}

// Time returns the time for generated files: the value of SOURCE_DATE_EPOCH
// (reproducible-builds.org/specs/source-date-epoch) or the current time.
func (a *App) Time() (time.Time, error) {
	epoch := a.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		return a.Now(), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fault.Usage("it is a number of seconds since 1970", "SOURCE_DATE_EPOCH is %q", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// year returns the license year.
func (a *App) year() (string, error) {
	now, err := a.Time()
	if err != nil {
		return "", err
	}
	return fmt.Sprint(now.Year()), nil
}
