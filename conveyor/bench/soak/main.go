// Command soak runs random workflows on a store while workers, appliers, the store and the network between them are killed, paused and
// robbed, and then checks the histories of all processes against what the engine promises.
//
//	go run ./soak -duration 1h -seed 7 -store redis -durability everysec
//	go run ./soak -store embedded
//	go run ./soak publish runs/*.json        writes FAULTS.md
//
// It exits with 1 if a promise was broken, and leaves the histories then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "-as" { // this process is one of a soak's
		if err := play(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "soak:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := command(ctx, os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "publish" {
		return publish(args[1:])
	}
	o, err := parseOptions(args, os.Stderr)
	if err != nil {
		return err
	}
	return soak(ctx, o, os.Stdout)
}
