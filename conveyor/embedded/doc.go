// Package embedded is a store for conveyor that needs no Redis: the same engine and the same Lua scripts run on a
// miniredis inside the process, with a journal on disk.
//
//	store, err := embedded.Open(ctx, ".waybill", embedded.Options{})
//	...
//	defer store.Close()
//	client, err := conveyor.NewClient(store.Client(), conveyor.Options{})
//
// # One host, many processes
//
// The first process that opens a directory hosts the store: it holds the lock, reads the journal and serves a unix
// socket (no TCP port is opened). Others that open the same directory join it through the socket. When the host
// closes, or dies in whatever way, the next process that needs the store takes over by itself. Requests that were
// not executed, and reads, are repeated behind the caller's back; a mutating request whose reply is lost fails,
// because only the caller knows whether repeating it does harm.
//
// A process that is about to be stopped (SIGTSTP) must call Suspend, and Resume when it goes on: a stopped host
// freezes everybody.
//
// # What survives
//
// Each command's effects are in the journal, in the system's hands, before the command is answered, and on the
// disk within a second. A crash of the process loses nothing that was acknowledged; a power failure loses at most
// the last second. A command whose effects cannot be written is refused, and changes nothing. TTLs are kept as
// absolute deadlines. The journal is compacted when it is opened, when it is closed and when it has grown; a tail
// that a crash tore is cut off, and damage elsewhere is a *CorruptError that names the offset.
//
// ReadOnly opens a store without a trace: it writes nothing, makes no file and takes no lock.
//
// # Limits
//
// All data is in memory, and one command runs at a time: about 10,000 small jobs a second on one core, whether a
// thousand or a hundred thousand wait, where Redis does three times that. Opening reads 10,000 jobs in 30 ms. It is
// made for trying out, for tests and for one machine; for more, and past a few hundred thousand jobs, use Redis. The
// directory must be on a local file system.
//
// These are missing: RESP3, consumer groups, HyperLogLogs, TTLs of hash fields, FUNCTION, LINSERT, LPOS, DUMP and
// RESTORE, COPY, MOVE, SWAPDB, SORT, CONFIG, Cluster; Lua has no cjson, cmsgpack, struct or bit. RPUSH to a long list
// copies it (mirror.go). A script that does not end stops the store for everybody.
//
// The package knows nothing of jobs.
package embedded
