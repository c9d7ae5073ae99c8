//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/process"
	"github.com/operon-dev/operon/internal/testkit/loadtest"
)

// bindings are ways to watch ConfigMaps.
var bindings = []struct{ name, settings string }{
	{"whole objects", ""},
	{"`jqFilter`", `, jqFilter: ".metadata.labels"`},
	{"`jqFilter`, `keepFullObjectsInMemory: false`", `, jqFilter: ".metadata.labels", keepFullObjectsInMemory: false`},
}

// hooks measures shell-operator with a hook that watches ConfigMaps.
func (b *bench) hooks(ctx context.Context, text *strings.Builder) error {
	if !b.rows.MatchString("hooks/") {
		return nil
	}
	text.WriteString("## Hooks\n\n| objects of 1 KiB | binding | first run, s | context, MB | CPU s | peak MiB |\n| ---: | --- | ---: | ---: | ---: | ---: |\n")
	for _, n := range []int{1000, 10_000} {
		cluster, kubeconfig, stop, err := b.start(ctx)
		if err != nil {
			return err
		}
		defer stop()
		if err := cluster.CreateUnrelated(ctx, n); err != nil {
			return err
		}
		for _, binding := range bindings {
			fmt.Fprintln(os.Stderr, "hooks/", n, binding.name)
			r, err := b.runHook(ctx, kubeconfig, binding.settings)
			if err != nil {
				return err
			}
			line := fmt.Sprintf("| %s | %s | %.1f | %.1f | %.1f | %.0f |\n", thousands(n), binding.name, r.first.Seconds(), r.context/1e6, r.cpu.Seconds(), r.peak)
			fmt.Fprint(os.Stderr, line)
			text.WriteString(line)
		}
		stop()
	}
	text.WriteString("\n")
	return nil
}

// hookRun describes the engine and the first run of its hook.
type hookRun struct {
	first   time.Duration // until the end of the run
	context float64       // bytes of the binding context
	cpu     time.Duration // of the engine
	peak    float64       // memory of the engine in MiB
}

// runHook starts the engine with a hook that watches ConfigMaps, and waits until the hook has
// run with all of them.
func (b *bench) runHook(ctx context.Context, kubeconfig, settings string) (r hookRun, err error) {
	dir, err := os.MkdirTemp(b.temp, "hooks-")
	if err != nil {
		return r, err
	}
	done := filepath.Join(dir, "done")
	script := fmt.Sprintf(`#!/usr/bin/env bash
if [[ "${1:-}" == --config ]]; then
  echo '{configVersion: v1, kubernetes: [{kind: ConfigMap, executeHookOnEvent: []%[1]s}]}'
else
  wc -c <"$BINDING_CONTEXT_PATH" >%[2]s.part && mv %[2]s.part %[2]s
fi
`, settings, done)
	for _, sub := range []string{"hooks", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			return r, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "hooks", "hook.sh"), []byte(script), 0o755); err != nil {
		return r, err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(running, b.engine, "start", "--hooks-dir", filepath.Join(dir, "hooks"), "--tmp-dir", filepath.Join(dir, "tmp"),
		"--kube-config", kubeconfig, "--listen-address", "127.0.0.1", "--listen-port", "0")
	cmd.Env = append(os.Environ(), "DEBUG_UNIX_SOCKET="+filepath.Join(dir, "socket"))
	started := time.Now()
	wait, err := process.Start(cmd)
	if err != nil {
		return r, err
	}
	defer func() {
		cancel()
		_ = wait()
	}()
	err = eventually(ctx, func() error {
		content, err := os.ReadFile(done)
		if err == nil {
			_, err = fmt.Sscan(string(content), &r.context)
		}
		return err
	})
	if err != nil {
		return r, err
	}
	r.first = time.Since(started)
	r.cpu, r.peak, err = loadtest.Usage(cmd.Process.Pid)
	return r, err
}
