//go:build unix && !linux

package process

import "syscall"

// endWithParent does nothing: this system has no such request.
func endWithParent(*syscall.SysProcAttr) {}
