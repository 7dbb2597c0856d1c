// Package applier carries a plan out: it takes the workflow's lock, writes jobs and records together in batches that
// a kill at any instant leaves resumable, and follows the jobs until they are settled. It owns what Redis holds of a
// workflow: state:<workflow>, meta:<workflow> and lock:<workflow>, and the list of all, workflows.
//
// ReadState is where a plan comes from, Apply where it goes, Follow what tells of a workflow that runs already, and Watch
// of all of them. They tell what happens as Events to an Observer, and none of them ever waits for it.
//
// The package decides nothing about jobs: what a row needs is the planner's, what a job does is conveyor's.
package applier
