// Package terminal keeps Bubble Tea from asking the terminal for its background colour when a process starts. It does so
// in an init function that cannot be switched off: every command of a program that contains a view would write the
// question into its output, and would wait five seconds on a terminal that does not answer. The live view uses the
// terminal's own colours and needs no answer.
//
// The question is not put to a dumb terminal, so TERM says that there is one until Restore, which whoever imports Bubble
// Tea calls from a package variable. This package imports next to nothing: it is initialised long before Bubble Tea,
// which needs much. A story of the command line on a terminal proves that no question is asked.
package terminal

import "os"

const variable = "TERM"

var term, known = os.LookupEnv(variable)

func init() {
	if known {
		os.Setenv(variable, "dumb") //nolint:errcheck // then the question is asked
	}
}

// Restore gives TERM its value back. It may be called again.
func Restore() bool {
	if known {
		os.Setenv(variable, term) //nolint:errcheck // it was possible before
	}
	return known
}
