package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// command is a program with its arguments, where and with what it runs.
type command struct {
	dir  string
	env  []string
	args []string
}

// launcher is the first argument of this program when it only starts another one and tells what that took. Linux counts the
// memory of the process that starts one as its own, so the starter has to be small, and this program is not after it has made
// terraform's states.
const launcher = "launch"

// measure runs a command to its end: the time it took, the time of processors, and the most memory it had at once. It has to succeed,
// which with -detailed-exitcode says that there is nothing to change.
func (c command) measure(ctx context.Context) (figures, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{launcher}, c.args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		text := problems.Bytes()
		return nil, fmt.Errorf("%v: %w\n%s", c.args, err, text[max(0, len(text)-4000):])
	}
	var wall, cpu, memory int64
	_, err = fmt.Sscan(out.String(), &wall, &cpu, &memory)
	return figures{"time": time.Duration(wall).Seconds(), "cpu": time.Duration(cpu).Seconds(), "memory": float64(memory)}, err
}

// launch runs a program and prints what it took as three numbers: nanoseconds, nanoseconds and bytes.
func launch(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	err := cmd.Run()
	wall := time.Since(begun)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out.Bytes())
	}
	var memory int64
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		memory = int64(usage.Maxrss) << 10 // kilobytes on Linux
	}
	_, err = fmt.Println(int64(wall), int64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()), memory)
	return err
}
