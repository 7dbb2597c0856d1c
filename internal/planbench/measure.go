package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// command is a program with its arguments, where and with what it runs.
type command struct {
	dir  string
	env  []string
	args []string
}

// cost is what one process took: time, time of processors, and the most memory it had at once, in bytes.
type cost struct {
	wall, cpu time.Duration
	memory    int64
}

// measure runs a command to its end. It has to succeed, which with -detailed-exitcode says that there is nothing to change.
func measure(ctx context.Context, c command) (cost, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	err := cmd.Run()
	wall := time.Since(begun)
	if err != nil {
		text := out.Bytes()
		return cost{}, fmt.Errorf("%v: %w\n%s", c.args, err, text[max(0, len(text)-4000):])
	}
	got := cost{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		got.memory = int64(usage.Maxrss) << 10 // kilobytes on Linux
	}
	return got, nil
}

// median takes each figure by itself.
func median(list []cost) cost {
	if len(list) == 0 {
		return cost{}
	}
	return cost{
		wall:   middle(list, func(c cost) time.Duration { return c.wall }),
		cpu:    middle(list, func(c cost) time.Duration { return c.cpu }),
		memory: middle(list, func(c cost) int64 { return c.memory }),
	}
}

func middle[T int64 | time.Duration](list []cost, of func(cost) T) T {
	values := make([]T, len(list))
	for i, c := range list {
		values[i] = of(c)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
