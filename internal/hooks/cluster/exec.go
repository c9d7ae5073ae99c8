package cluster

import (
	"context"
	"io"

	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
)

// Exec runs a command in a container of a pod, and writes its output to stdout. API servers
// that do not know the protocol on WebSockets get the older one.
func (c *Cluster) Exec(ctx context.Context, namespace, pod, container string, command []string, stdout io.Writer) error {
	request := c.raw.Get().AbsPath("/api/v1/namespaces/"+namespace+"/pods/"+pod+"/exec").
		Param("container", container).Param("stdout", "true")
	for _, word := range command {
		request.Param("command", word)
	}
	sockets, err := remotecommand.NewWebSocketExecutor(c.config, "GET", request.URL().String())
	if err != nil {
		return err
	}
	older, err := remotecommand.NewSPDYExecutor(c.config, "POST", request.URL())
	if err != nil {
		return err
	}
	exec, err := remotecommand.NewFallbackExecutor(sockets, older, httpstream.IsUpgradeFailure)
	if err != nil {
		return err
	}
	return exec.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: stdout})
}
