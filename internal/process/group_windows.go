package process

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object. Windows ends all its processes when the last handle is
// closed, which also happens when operon is killed.
type group struct {
	cmd *exec.Cmd
	job windows.Handle
}

func newGroup(cmd *exec.Cmd) *group { return &group{cmd: cmd} }

// adopt adds the child to a job that ends with its handle.
func (g *group) adopt() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	g.job = job
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		return err
	}
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE
	child, err := windows.OpenProcess(access, false, uint32(g.cmd.Process.Pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(child) }()
	return windows.AssignProcessToJobObject(job, child)
}

// interrupt ends the group immediately, because a console event would also
// reach operon.
func (g *group) interrupt() error {
	g.kill()
	return nil
}

func (g *group) kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
}

func (g *group) release() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}
