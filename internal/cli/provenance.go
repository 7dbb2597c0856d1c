package cli

import (
	"errors"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/internal/gitsource"
	"github.com/waybill-dev/waybill/planner"
)

// provenance is where a configuration came from, and the configuration itself, as they go into the history.
type provenance struct {
	source  planner.Source
	archive []byte
	without string // why there is no archive
}

// provenanceOf looks at a workflow that was loaded from the disk.
func provenanceOf(w *config.Workflow) provenance {
	p := provenance{source: gitsource.Describe(w.Dir, w.Files())}
	var err error
	if p.archive, err = w.Archive(); err != nil {
		p.without = err.Error()
		if errors.Is(err, config.ErrTooLarge) {
			p.without = "the configuration is " + err.Error()
		}
	}
	return p
}
