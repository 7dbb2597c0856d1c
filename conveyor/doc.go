// Package conveyor is a general job queue over Redis and its Go SDK: jobs with parents, predecessors, start times,
// retries and fenced leases. It knows jobs, never workflows, and stands alone.
package conveyor
