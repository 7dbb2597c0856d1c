// Package bridge lets a fleet of the conveyor library that is deployed today run jobs of ours: a worker of ours on one side, a client of
// theirs on the other. With [Options].FromClients it also makes jobs of ours of what clients of the fleet enqueue. [New] makes a bridge and [Bridge.Run] runs it; "waybill bridge conveyor" is the command.
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
//	conv:bridge:<namespace>:handed         SET   uuids of jobs that the fleet has
//	conv:bridge:<namespace>:job:<uuid>     HASH  fence, attempts, lost, queue, bytes as pushed; outcome, failure, final, started, absent,
//	                                             closing, stalled, failed:<child>, missing:<child>
//	conv:bridge:<namespace>:taken          SET   uuids of clients' jobs that are ours and not closed on their side
//	conv:bridge:<namespace>:client:<uuid>  HASH  bytes as enqueued, from, due; asked, added, left
//	conv:bridge:<namespace>:open           LIST  clients' jobs whose lists were not looked through, a stack
//	conv:bridge:<namespace>:fresh          LIST  clients' jobs that the engine has still to get, oldest left
//	conv:bridge:<namespace>:setaside       LIST  "<key> <entry>": what clients enqueued and cannot be a job
package bridge
