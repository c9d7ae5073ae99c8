//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// usage is the cost of a run.
type usage struct {
	wall time.Duration
	cpu  time.Duration // user and system time of the process and of those that it waited for
	peak float64       // peak memory of the largest process, in MB
}

// program is a command line to measure.
type program struct {
	dir  string
	env  []string
	args []string // args[0] is the program
}

// measure runs the program.
func (p program) measure() (usage, error) {
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), p.env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(begin)}
	if err != nil {
		return u, fmt.Errorf("%v in %s: %w\n%s", p.args, p.dir, err, out.String())
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.peak = float64(r.Maxrss) / 1024
		if runtime.GOOS == "darwin" { // the unit is bytes
			u.peak /= 1024
		}
	}
	return u, nil
}

// goCommand returns what the go command prints to stdout.
func goCommand(dir string, args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %v: %w\n%s", args, err, stderr.String())
	}
	return string(out), nil
}

// row is a line of a table: the same work by both programs, in all rounds.
type row struct {
	name         string
	target       float64
	ours, theirs []usage
}

// add measures both programs. Which of them starts alternates from round to round.
func (r *row) add(ours, theirs program) error {
	both := []struct {
		program
		to *[]usage
	}{{ours, &r.ours}, {theirs, &r.theirs}}
	if len(r.ours)%2 == 1 {
		slices.Reverse(both)
	}
	for _, p := range both {
		u, err := p.measure()
		if err != nil {
			return err
		}
		*p.to = append(*p.to, u)
	}
	return nil
}

// median returns the median of a figure over all rounds.
func median(all []usage, figure func(usage) float64) float64 {
	values := make([]float64, len(all))
	for i, u := range all {
		values[i] = figure(u)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func wall(u usage) float64 { return float64(u.wall.Microseconds()) / 1000 }
func cpu(u usage) float64  { return float64(u.cpu.Microseconds()) / 1000 }
func peak(u usage) float64 { return u.peak }

// ratio returns how many times operon is faster, as the median over the rounds. A
// machine that is slow for a while is slow for both runs of a round.
func (r *row) ratio(figure func(usage) float64) float64 {
	var each []usage
	for i := range r.ours {
		each = append(each, usage{peak: figure(r.theirs[i]) / figure(r.ours[i])})
	}
	return median(each, peak)
}
