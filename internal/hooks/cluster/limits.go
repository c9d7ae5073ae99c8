package cluster

import (
	"cmp"
	"strconv"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Limits are the rate limits and the request timeout of a client.
type Limits struct {
	QPS     float32       // requests per second; negative means unlimited
	Burst   int           // requests in a burst
	Timeout time.Duration // 0 means none
}

// EngineLimits returns the limits of the engine's two clients. One watches objects and
// registers webhooks; the other applies patches. The limits come from the engine's
// environment variables, or else are the engine's defaults.
func EngineLimits(getenv func(string) string) (watch, patch Limits, err error) {
	const watchPrefix, patchPrefix = "KUBE_CLIENT_", "OBJECT_PATCHER_KUBE_CLIENT_"
	watch = Limits{QPS: 5, Burst: 10}
	patch = Limits{QPS: 5, Burst: 10, Timeout: 10 * time.Second}
	err = cmp.Or(
		watch.read(getenv, watchPrefix), patch.read(getenv, patchPrefix),
		setting(getenv, patchPrefix+"TIMEOUT", "a duration, such as 10s", time.ParseDuration, &patch.Timeout),
	)
	return watch, patch, err
}

func (l *Limits) read(getenv func(string) string, prefix string) error {
	return cmp.Or(
		setting(getenv, prefix+"QPS", "a number of requests per second", func(text string) (float32, error) {
			n, err := strconv.ParseFloat(text, 32)
			return float32(n), err
		}, &l.QPS),
		setting(getenv, prefix+"BURST", "an integer", strconv.Atoi, &l.Burst),
	)
}

// setting reads a variable, if it is set.
func setting[T any](getenv func(string) string, name, what string, parse func(string) (T, error), into *T) error {
	text := getenv(name)
	if text == "" {
		return nil
	}
	v, err := parse(text)
	if err != nil {
		return fault.Usage("fix the variable: the engine does not start with this value", "%s=%s is not %s", name, text, what)
	}
	*into = v
	return nil
}

// Limited returns a separate client of the same API server, with the given limits.
func (c *Cluster) Limited(l Limits) (*Cluster, error) {
	limited := *c
	limited.config = rest.CopyConfig(c.config)
	limited.config.QPS, limited.config.Burst, limited.config.Timeout = l.QPS, l.Burst, l.Timeout
	objects, err := dynamic.NewForConfig(limited.config)
	limited.objects = objects
	return &limited, fault.In("create a client for context "+c.Context, err)
}
