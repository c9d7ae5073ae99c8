//go:build !linux

package e2e

import "syscall"

// attributes are the system's own: it cannot tie a child to the tests.
func attributes() *syscall.SysProcAttr { return nil }
