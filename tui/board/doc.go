// Package board knows how a workflow's run stands: it folds the applier's events into jobs, counts and sections, and has
// the words for what happens to jobs. It draws nothing and writes nothing; the renderings of package tui and its views do.
package board
