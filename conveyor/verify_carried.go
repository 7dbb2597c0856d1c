package conveyor

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// carriedFlags are the hashes of texts that few jobs carry beside their entry, and the flags in it that say so, as
// lua/lib/carry.lua has them.
var carriedFlags = map[string]string{"roots": "v", "sync": "s", "triggers": "g"}

// carriedBy is what the bytes of a job say that belongs into such a hash; "" when they say nothing or cannot be read.
func carriedBy(name, bytes string) string {
	job := &wire.Job{}
	if bytes == "" || proto.Unmarshal([]byte(bytes), job) != nil {
		return ""
	}
	switch {
	case name == "roots" && checkLabels(job.ObsoleteIf) == nil:
		return packLabels(job.ObsoleteIf)
	case name == "sync" && checkSync(job.Sync) == nil:
		return packLabels(job.Sync)
	case name == "triggers" && checkGateLabels(job.TriggersGate) == nil:
		return packNames(job.TriggersGate)
	}
	return ""
}

// carried checks I2 between these hashes and the flags.
func (j *judgement) carried() {
	declared := j.full
	if declared == "" && j.t != nil {
		declared = j.t.bytes
	}
	for name, flag := range carriedFlags {
		detail := "its entry does not say that it is here"
		switch flagged := strings.Contains(flagsOf(j.entry), flag); {
		case flagged == j.fields[name]:
			continue
		case flagged:
			detail = "what it carries is gone"
		}
		j.say("I2", j.keys.key(name), detail, fmt.Sprintf("have %s and the entry of %s agree", name, j.uuid), newFix("recarry", flag, carriedBy(name, declared)))
	}
}
