package cluster

import (
	"cmp"
	"strconv"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Limits are how often a client asks the API server, and how long it waits for an
// answer.
type Limits struct {
	QPS     float32       // requests a second; below 0 any number
	Burst   int           // requests at once, after a pause
	Timeout time.Duration // 0: none
}

// EngineLimits are those of the engine's two clients: the one that follows objects and
// registers webhooks, and the one that applies patches. They are set by the variables
// that the engine reads, and its own values otherwise.
func EngineLimits(getenv func(string) string) (follow, patch Limits, err error) {
	const follows, patches = "KUBE_CLIENT_", "OBJECT_PATCHER_KUBE_CLIENT_"
	follow = Limits{QPS: 5, Burst: 10}
	patch = Limits{QPS: 5, Burst: 10, Timeout: 10 * time.Second}
	err = cmp.Or(
		follow.read(getenv, follows), patch.read(getenv, patches),
		setting(getenv, patches+"TIMEOUT", "a duration, such as 10s", time.ParseDuration, &patch.Timeout),
	)
	return follow, patch, err
}

func (l *Limits) read(getenv func(string) string, prefix string) error {
	return cmp.Or(
		setting(getenv, prefix+"QPS", "a number of requests a second", func(text string) (float32, error) {
			n, err := strconv.ParseFloat(text, 32)
			return float32(n), err
		}, &l.QPS),
		setting(getenv, prefix+"BURST", "a whole number", strconv.Atoi, &l.Burst),
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
		return fault.Usage("it limits the requests of the engine, too, which does not start so", "%s=%s is not %s", name, text, what)
	}
	*into = v
	return nil
}

// Limited is the same API server by a client of its own, which keeps to limits.
func (c *Cluster) Limited(l Limits) (*Cluster, error) {
	limited := *c
	limited.config = rest.CopyConfig(c.config)
	limited.config.QPS, limited.config.Burst, limited.config.Timeout = l.QPS, l.Burst, l.Timeout
	objects, err := dynamic.NewForConfig(limited.config)
	limited.objects = objects
	return &limited, fault.In("make a client for context "+c.Context, err)
}
