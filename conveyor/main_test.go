package conveyor_test

import (
	"flag"
	"testing"

	"github.com/waybill-dev/waybill/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// long asks for the tests that take minutes.
var long = flag.Bool("long", false, "also run the tests that take minutes")
