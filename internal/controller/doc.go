// Package controller keeps the jobs of workflows equal to their configuration, round after round: it reads the configuration from a
// Source, plans, asks what has to consent, submits the difference and waits for the next reason to look.
//
// A Loop belongs to one configuration. Of any number of replicas of it one leads and writes; the others watch, and one of them takes
// over when the leader is gone. It never runs jobs, never waits for their ends, and never undoes what it did not plan.
package controller
