package cli

import (
	"bytes"
	"io"
	"strings"
	"text/tabwriter"
)

// table writes rows in columns, the first one their names. What stands in a cell never steers a terminal, and no line ends
// in blanks.
func table(out io.Writer, rows [][]string) error {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for _, cell := range row {
			io.WriteString(w, clean(cell)+"\t") //nolint:errcheck // a buffer takes everything
		}
		io.WriteString(w, "\n") //nolint:errcheck // as above
	}
	w.Flush() //nolint:errcheck // as above
	var lines strings.Builder
	for line := range strings.Lines(b.String()) {
		lines.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	_, err := io.WriteString(out, lines.String())
	return err
}
