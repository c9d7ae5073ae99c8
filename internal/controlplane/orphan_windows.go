package controlplane

import (
	"os"
	"os/exec"
)

// tag does nothing: the system ends the programs of a keeper that dies.
func tag(*exec.Cmd, string) (known func(*os.Process), err error) {
	return func(*os.Process) {}, nil
}

func endOrphans(string) error { return nil }
