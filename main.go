// Command waybill is Terraform for job workflows: it plans, submits and runs jobs that HCL files declare.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/waybill-dev/waybill/internal/cli"
)

func main() {
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
