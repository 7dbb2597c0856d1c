// Package handlers has the job types that every worker of Waybill runs: exec, http, sleep and noop. Register adds them to a
// conveyor.Worker. They know jobs, never workflows: what a job does is its payload, in the JSON forms of Exec, HTTP and
// Sleep. A field that this version does not know fails the job for good, since ignoring it could do something else than
// what was asked for.
package handlers
