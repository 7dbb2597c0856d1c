package conveyor_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestMain runs the tests and then looks for goroutines that clients and workers left behind. A run with a mutation has one that
// bounds it, and tells by its tests alone whether they notice anything.
func TestMain(m *testing.M) {
	flag.Parse()
	code := redistest.Run(m)
	if err := conveyor.WriteMarks(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code == 0 && os.Getenv(conveyor.EnvMutation) == "" {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left after all workers and listeners ended:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// long asks for the tests that take minutes.
var long = flag.Bool("long", false, "also run the tests that take minutes")
