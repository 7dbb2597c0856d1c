// Package screen holds what the views on a terminal draw with: their looks, cutting and aligning in cells, texts from
// outside made harmless, and the inbox through which events reach a view by frames.
package screen

import "github.com/waybill-dev/waybill/tui/terminal"

// Bubble Tea is initialised by now, and has asked the terminal nothing. Every view imports this package.
var _ = terminal.Restore()
