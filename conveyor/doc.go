// Package conveyor is a general job queue over Redis and its Go SDK: jobs with parents, predecessors, start times,
// retries and fenced leases. It knows jobs, never workflows, and stands alone: a program can add jobs and run handlers
// with nothing else of this module.
//
// [NewClient] adds, changes and observes jobs ([Client.Add], [Client.Apply], [Client.Events]); [NewWorker] runs them.
// Jobs carry labels ([Client.List], [Client.Exists]) and may hold a key that no other live job of their type has
// ([UniqueError]). Queues have settings and can be paused by hand ([Client.SetQueue], [Client.PauseQueue]). Who waits or
// listens uses [Client.Wait], [Client.Subscribe] and [Client.On]; who wants a plain queue with nothing else, a [MessageQueue].
// Whether the store is sound, and what to do if not, say [Client.Verify] and [Client.Diagnose]. What happens is told to an
// [Observer]: the package metrics shows it to Prometheus. Whether a worker is healthy says [Worker.Live]. A Client
// never trusts a client's clock, never scans a queue, and has no goroutine in a Client but for listeners ([Client.On]): one
// follows the event log while there is any.
//
// # Model
//
// A job is a wire.Job in exactly one place, and one small status entry that says which. The entries of lists and of
// `scheduled` are only tickets: a ticket whose place is no longer the job's is dropped when it is met. So cancelling and
// moving a job costs the same at any queue length.
//
//	        add
//	         |
//	         v       last edge       run_at ahead           due
//	       held --------------------> scheduled ----------------> queued <-- handed back, lease lost
//	         |  \________________________________________________/  |            (at its old place)
//	excluded |                  nothing to wait for          reserve| fence + 1
//	         v                                                      v
//	      skipped       error, attempts left: scheduled <------- running ---> on hold ---> queued
//	                                                                |   \
//	                                               own work is done |    \ error, none left
//	                                                                v     v
//	                      completed, failed(child) <----------- closing  failed
//	                                                     children ended
//
// Every arrow is one atomic script; a job that waits is cancelled at once, a running one when its worker stops. All ends
// go one way: the outcome is decided, the job is `closing`, its children and heirs are decided, then the outcome becomes
// its state and its parents are looked at. What a script cannot finish within 200 changed jobs is listed in `todo`, and any
// later call or [Client.Tick] goes on.
//
// An edge makes a job wait for one opening of another. A child starts when its parent's own work is done; the parent
// is complete after its children. An heir starts when its predecessor is complete. Predecessors of one group are judged
// together by run_if, groups combine with AND, a job whose edges exclude it is skipped and passes the outcome on.
// Openings count how often a job ran or reopened: an edge to one that is over is judged at once, one that has not come holds.
//
// # Attempts
//
// Each reservation raises the job's fence, and whatever the attempt writes carries it: a superseded one gets
// [ErrOutdated] and changes nothing. A worker's beat is the lease of all its jobs. Acknowledging and reserving carry a
// number per caller: the same number again gets the same reply. So every request may be repeated, and a lost reply
// loses, doubles or orphans nothing. A store that lost the end of an attempt in a crash or a failover counts it as running: the
// worker that has it no more says so after two beats, and hands the job back.
//
// A success may leave a result ([Attempt.SetResult]). The payload of another job may read values out of it ([ResultValue],
// [Reading]): a worker puts them in before it starts that job's handler, and a value that is missing fails the attempt for good.
//
// # Invariants
//
//   - I1: a live job is in exactly one place and its status says which.
//   - I2: no reference without a job, no job without a reference.
//   - I3: running iff owned and fenced; the fence only rises.
//   - I4: an acknowledged add is never lost.
//   - I5: within a queue and lane jobs start in the order they became ready, also after leases are lost.
//   - I6: no job starts before its run_at.
//   - I7: a unique key is held iff its owner is live.
//   - I8: an heir fires exactly once, after all it waits for.
//   - I11: every live job can still end, or is an orphan.
//   - I12: a script that errors changed nothing.
//   - I13: after retention nothing of a job is left.
//   - I14: a stopped worker owns nothing.
//   - I15: repeating any request changes nothing.
//
// [Client.Verify] checks those that can be seen in the store, while it is in use, and [Client.Repair] mends what it finds:
// from the status entries, each piece only if nothing has moved since, and without throwing anything away.
// [Client.Diagnose] adds what else may need a hand: orphans, what was set aside, damaged keys, silent workers.
//
// # Stores
//
// A store is one Redis server of version 7 or newer, or Valkey; one that Sentinels watch; or a Cluster. A namespace is one slot of a
// Cluster, and many namespaces spread over its nodes.
//
// A failover is an outage of some seconds: calls fail with [ErrUnavailable], and workers, listeners and subscriptions go on by themselves.
// Replication is asynchronous. What a script has written a replica has whole or not at all, and in order; so what is lost when a
// primary dies is the last of what it was told, as if that had never happened: an acknowledged add may be gone, and an acknowledged
// end, so that the job runs again. No invariant breaks by it. Adding a job again is harmless, and followers whose last events are gone
// are told of a gap. To narrow what can be lost set min-replicas-to-write and min-replicas-max-lag.
//
// While the slot of a namespace moves to another node all calls that change something fail with ErrUnavailable and change nothing,
// since a script would see half of the namespace. They are repeated, and go on when the slot has moved.
//
// Every change is one script. A server that has functions gets each script as a library, waybill_<script>_<sum of its text>, when it is
// first called, and keeps it like data: an upgrade leaves those of the version before, some 80 kB each, until FUNCTION DELETE.
// Scripts are called by their sum where functions are unknown or not allowed.
//
// # Keys
//
// All keys start with the namespace, "{waybill}:" by default:
//
//	queue:<q>, queue:<q>:2, queue:<q>:0   LIST    tickets of a queue by priority; pushed left, taken right
//	scheduled                             ZSET    tickets by run_at in epoch seconds
//	jobs:<u>                              STRING  bytes: from reserve to end; of updated, large and multi-edge jobs always
//	jobs:<u>:children, :onComplete        LIST    tickets of what waits for the first opening; later ones end in :<opening>
//	jobs:<u>:active                       SET     released, unfinished children
//	jobs:<u>:edges                        HASH    of a job with two or more predecessors
//	jobs:<u>:log                          STREAM  <fence>-<n>
//	jobs:<u>:inboxes                      LIST    of a job for all workers: whom a later call has to think of
//	queue:@<w>, queue:@<w>:2              LIST    the inbox of a worker: what goes to it alone, and to all
//	status                                HASH    uuid -> status entry, see entry.go
//	results, failures, failed, progress   HASH    uuid -> result, last failure, bytes of a failed job, progress
//	labels                                HASH    uuid -> "<name>=<value>,...", escaped
//	label:<n>=<v>, label:<n>=, ...        SET     live jobs by label; :=<v> any name, := all; past:... of ended ones
//	roots                                 HASH    uuid -> labels that make it obsolete while a live job has them all
//	unique                                HASH    escaped "<type>:<key>" -> the live job that holds it
//	todo, leases                          ZSET    what is left to do; deadlines without worker
//	ended:<q>, sweeps                     LIST, ZSET   "<ms> <uuid>" of ended jobs; queues by when their oldest is due
//	removals, expiry                      ZSET    ended jobs by remove_after; waiting ones by their limit
//	workers, worker:<w>, worker:<w>:jobs  ZSET, HASH, ZSET   beats, description, running jobs
//	queues, depth, slots                  HASH    settings, queued jobs by lane, running jobs
//	idle:<q>, wake:<w>                    ZSET, LIST   whom to wake, wake-ups (the only keys with a TTL)
//	events, events:seq, events:life       STREAM, STRING, STRING   event log, its last number, when it began
//	seq                                   STRING  last place
//	call:<caller>, callers                STRING, ZSET   last number and reply; callers that are no workers
//	setaside                              LIST    "<key> <entry>": undecodable entries
//	damaged:<key>                         any     keys of a wrong type that [Client.Repair] moved out of the way
//	template:<u>                          HASH    a template: when, catchup, overlap, off, hand, since, next, max, used, entry, edges, root
//	template:<u>:gate                     HASH    label -> 0, 1 once flipped, or - and the uuid of the trigger that failed last
//	cycles:<root>                         HASH    tick -> "<began ms>:<made>:<failed>:<flags>" of live cycles, see cycle.go
//	cycle:<root>:<tick>                   SET     live occurrences of a cycle
//	backlog:<root>                        ZSET    ticks that were asked for and wait until no cycle is live
//	history:<root>                        LIST    cycles that are over, newest left, see cycle.go
//	sync                                  HASH    uuid -> state carried to the next execution, packed as labels are
//	clock                                 STRING  written by tests only
package conveyor
