// Package approve shows a plan on a terminal to somebody who has to approve it: what changes, one line per change, each
// with its difference and its causes on demand. A View asks once; its answer is the only thing that comes out of it. What
// is shown of a change is what the planner renders. The package changes nothing and never reads the store.
package approve
