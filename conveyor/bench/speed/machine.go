package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// machine is what the figures were measured on, and with.
type machine struct {
	Processor  string `json:"processor"`
	Processors int    `json:"processors"`
	System     string `json:"system"`
	Go         string `json:"go"`
	Redis      string `json:"redis"`
	Terraform  string `json:"terraform,omitempty"`
	Asynq      string `json:"asynq"`
	Load       string `json:"load"` // of the last minute, as the run began
}

func (m machine) String() string {
	terraform := m.Terraform
	if terraform == "" {
		terraform = "no terraform"
	}
	return fmt.Sprintf("%s, %d processors shared by client and server, %s; %s, %s, %s, asynq %s; load average %s at the start.",
		m.Processor, m.Processors, m.System, m.Go, m.Redis, terraform, m.Asynq, m.Load)
}

func thisMachine(ctx context.Context, terraform string) machine {
	m := machine{Processor: "unknown processor", Processors: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Asynq: "unknown", Load: "unknown"}
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
				m.Processor = strings.TrimSpace(value)
				break
			}
		}
		_ = f.Close()
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(text), " ")
	}
	m.Redis = version(ctx, "Redis ", "v=", "redis-server", "--version")
	if terraform != "" {
		m.Terraform = version(ctx, "terraform ", "Terraform v", terraform, "version")
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/hibiken/asynq" {
				m.Asynq = strings.TrimPrefix(d.Version, "v")
			}
		}
	}
	return m
}

// version is the word after a mark in what a program prints.
func version(ctx context.Context, name, mark, program string, args ...string) string {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	_, rest, found := strings.Cut(string(out), mark)
	if err != nil || !found {
		return name + "of unknown version"
	}
	return name + strings.Fields(rest)[0]
}
