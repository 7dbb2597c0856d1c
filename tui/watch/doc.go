// Package watch shows a whole namespace on a terminal: its workflows and their jobs as a list, a tree or a layered
// graph, its queues and workers, what waits for a time, and the log of one job as it grows. From it a job can be tried
// again, cancelled or released, and a queue paused or resumed.
//
// New makes a View; it is an applier.Observer of applier.Watch. It holds no store: what it changes or reads by hand goes
// through the Actions that it is given, and only in commands, so that a store that is slow never stops the view.
package watch
