package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// patience limits how long a manager may take to compile and to start.
const patience = 15 * time.Minute

// manager reports whether the manager with the new kind starts on an API server, which calls its webhooks.
func (t *trial) manager() string {
	if _, failed := t.extend(); failed != "" {
		return "-"
	}
	failed := t.start("xebec")
	if failed == "" {
		return "starts"
	}
	before := *t
	before.dir += "-before"
	if err := t.of.Copy(t.ctx, before.dir); err != nil {
		return err.Error()
	}
	if r := before.prepare(); r.failed != "" {
		return r.failed
	}
	if other := before.start("controller"); other != "" {
		return "does not start here without the new kind, either: " + other
	}
	return "**" + failed + "**"
}

// start runs operon run on a new control plane until the log of the manager says that a controller with this text has
// workers. failed is the reason why that does not happen.
func (t *trial) start(controller string) (failed string) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	const name = "corpus"
	r := t.exec(t.operon, "envtest", "start", "--detach", "--name", name)
	if r.failed != "" {
		return r.failed
	}
	defer t.exec(t.operon, "envtest", "stop", "--name", name)
	if r := t.exec(t.operon, "generate"); strings.Contains(r.failed, " that operon did not make") {
		t.exec(t.operon, "generate", "--keep", ".")
	}
	cmd := exec.CommandContext(ctx, t.operon, "run", "--install")
	cmd.Dir, cmd.Env = t.dir, append(append(os.Environ(), t.env...), "KUBECONFIG="+strings.TrimSpace(r.stdout))
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, time.Minute
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		return err.Error()
	}
	go func() { _ = in.CloseWithError(cmd.Wait()) }()
	log, started, last := bufio.NewReader(out), false, ""
	for {
		line, err := log.ReadString('\n')
		if message, is := strings.CutPrefix(line, "error: "); is && !started && failed == "" {
			failed = firstLine(message + " (" + last + ")")
			cancel()
		}
		if strings.Contains(line, "Starting workers") && strings.Contains(strings.ToLower(line), controller) {
			started = true
			cancel()
		}
		if strings.TrimSpace(line) != "" {
			last = strings.TrimSpace(line)
		}
		switch {
		case err != nil && !started && failed == "":
			return firstLine("the log has no controller with workers: " + last)
		case err != nil:
			return failed
		}
	}
}
