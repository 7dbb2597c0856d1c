package cli

import (
	"github.com/waybill-dev/waybill/tui"
)

// inJSON writes an error as a diagnostic of the -json stream, and leaves only the exit code to be told. Whoever reads the
// stream reads one stream.
func (a *app) inJSON(s *display, on bool, err error) error {
	if !on || err == nil {
		return err
	}
	if _, ok := err.(exit); ok {
		return err
	}
	j := tui.NewJSON(tui.JSONOptions{Out: a.p.Stdout})
	if s != nil && s.json != nil {
		j = s.json
	}
	diags, files := asDiagnostics(a.rights.explain(err))
	j.Diagnostics(diags, files)
	if a.stops.interrupted() {
		return exit(exitInterrupted)
	}
	return exit(exitCode(err))
}
