package conveyor_test

import (
	"testing"

	"github.com/waybill-dev/waybill/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }
