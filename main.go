// Command waybill is Terraform for job workflows: it plans, submits and runs jobs that HCL files declare.
package main

import (
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/waybill-dev/waybill/internal/cli"
)

func main() {
	startLean()
	interrupts := make(chan os.Signal, 8)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(interrupts, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a closed stdout is an error of the write
	os.Exit(cli.Run(cli.Process{
		Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Interrupts: interrupts,
	}))
}

// startLean makes short commands cheap. Nobody reads a heap profile of this program, and taking its samples walks through the tables of
// stacks. The first garbage collection is put off until 8 MiB are in use instead of 4: a plan of a few hundred jobs ends before, and a
// collection costs more memory than it would find there. From the first one on it is as everywhere; GOGC is obeyed from the start.
func startLean() {
	runtime.MemProfileRate = 0
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(200)
	runtime.AddCleanup(new(*int), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
