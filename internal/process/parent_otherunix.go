//go:build unix && !linux

package process

import "syscall"

// endWithParent does nothing, because this system has no such feature.
func endWithParent(*syscall.SysProcAttr) {}
