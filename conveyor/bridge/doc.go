// Package bridge lets a fleet of the conveyor library that is deployed today run jobs of ours: a worker of ours on one side, a client of
// theirs on the other. [New] makes a bridge and [Bridge.Run] runs it; "waybill bridge conveyor" is the command.
//
// A bridge reserves jobs of its queues from the engine and pushes them to the fleet's queues of the same name, without edges,
// schedules or retries: the engine keeps these, so what the fleet gets wrong with them cannot touch our jobs. It extends the
// reservation while the fleet has a job and acknowledges from the fleet's events. Since an event can be missed, it also reads the fleet's
// structures: a job that is in none of them and sent no event runs again, so a job runs at least once.
//
// Any number of bridges may run. What the fleet has is remembered in the fleet's store by one record per job, written together with the
// entry in the queue: any bridge settles any job of its namespace, and a job that is reserved again after all bridges were gone is found
// there instead of pushed twice. See README.md for what is promised and what is not.
//
//	conv:bridge:<namespace>:handed      SET   uuids of jobs that the fleet has
//	conv:bridge:<namespace>:job:<uuid>  HASH  fence, attempts, lost, queue, bytes as pushed; outcome, failure, started, absent
package bridge
