package cli_test

import "flag"

var update = flag.Bool("update", false, "take what commands write into the stories")
