package bridge

// What the fleet calls its own.
const (
	theirEvents    = "conv:events"
	theirWorkers   = "conv:workers:active"
	theirScheduled = "conv:scheduled"
	theirFailed    = "conv:failed"
)

func theirQueue(name string) string { return "conv:queue:" + name }

func theirJob(uuid string) string { return "conv:job:" + uuid }

// keys are ours in their store: one record per job that the fleet has, and the set of these; one record per job of their clients that is
// ours, the set of these, those of them that the engine has still to get, and what is no job. They carry the namespace of ours, so
// several namespaces may share a fleet.
type keys struct{ prefix string }

func newKeys(namespace string) keys { return keys{"conv:bridge:" + namespace + ":"} }

func (k keys) handed() string            { return k.prefix + "handed" }
func (k keys) records() string           { return k.prefix + "job:" }
func (k keys) record(uuid string) string { return k.records() + uuid }

func (k keys) taken() string             { return k.prefix + "taken" }
func (k keys) open() string              { return k.prefix + "open" }
func (k keys) fresh() string             { return k.prefix + "fresh" }
func (k keys) setAside() string          { return k.prefix + "setaside" }
func (k keys) clients() string           { return k.prefix + "client:" }
func (k keys) client(uuid string) string { return k.clients() + uuid }
