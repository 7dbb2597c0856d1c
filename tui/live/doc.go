// Package live is the full-screen view of one apply or destroy: a Bubble Tea program behind an
// observer of the applier's events. It gives the terminal back in whatever way it ends, and leaves a recap below.
package live
