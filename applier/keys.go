package applier

// The keys of a workflow, without the namespace's prefix: companion writes and guards take them so.

// stateKey is a HASH: address to "version record". One field per address, nothing else.
func stateKey(workflow string) string { return "state:" + workflow }

// metaKey is a HASH of what belongs to the workflow as a whole; see meta.go.
func metaKey(workflow string) string { return "meta:" + workflow }

// revisionsKey is a HASH: number to "1 revision" as JSON, the latest ones; see revision.go.
func revisionsKey(workflow string) string { return "revisions:" + workflow }

// archivesKey is a HASH: name of a configuration to "1 archive", sealed; each is of at least one revision.
func archivesKey(workflow string) string { return "archives:" + workflow }

// lockKey is a HASH: fence, and while somebody holds the lock token, who, operation, since and expires.
func lockKey(workflow string) string { return "lock:" + workflow }

// controllerKey is a HASH: the lease of the controller that leads, with the fields of a lock, and what controllers remember of the
// workflow; see leader.go.
func controllerKey(workflow string) string { return "controller:" + workflow }

// workflowsKey is a HASH: workflow to "1 serial", as in its meta hash: every batch writes it, so that one small read tells what
// workflows there are and which have changed.
const workflowsKey = "workflows"
