package bridge

// What the fleet calls its own.
const (
	theirEvents    = "conv:events"
	theirWorkers   = "conv:workers:active"
	theirScheduled = "conv:scheduled"
	theirFailed    = "conv:failed"
)

func theirQueue(name string) string { return "conv:queue:" + name }

// keys are ours in their store: one record per job that the fleet has, and the set of these. They carry the namespace of ours, so several
// namespaces may share a fleet.
type keys struct{ prefix string }

func newKeys(namespace string) keys { return keys{"conv:bridge:" + namespace + ":"} }

func (k keys) handed() string            { return k.prefix + "handed" }
func (k keys) records() string           { return k.prefix + "job:" }
func (k keys) record(uuid string) string { return k.records() + uuid }
