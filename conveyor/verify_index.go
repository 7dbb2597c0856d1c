package conveyor

import (
	"fmt"
	"strconv"
)

// free says that a unique key is held by a job that has no right to it.
func (j *judgement) free(y, detail string) {
	j.say("I7", j.keys.unique(), fmt.Sprintf("%s: %s", unescaped(y), detail), fmt.Sprintf("free the unique key %s", unescaped(y)), newFix("free", y))
}

// unique checks I7: a live job with a unique key holds it, and nobody else does.
func (j *judgement) unique() {
	y := tagOf(j.entry, 'y')
	for held := range j.holds {
		if held != y || !j.status.State.live() {
			j.free(held, "held by a job that is "+j.status.State.String())
		}
	}
	if y == "" || !j.status.State.live() || j.holds[y] {
		return
	}
	if s, err := decodeStatus(j.holder, j.upstream[j.holder]); j.holder != "" && err == nil && s.State.live() && tagOf(j.upstream[j.holder], 'y') == y {
		j.say("I7", j.keys.unique(), fmt.Sprintf("%s: held by %s, and %s has it too", unescaped(y), j.holder, j.uuid),
			fmt.Sprintf("let %s go on without its unique key", j.uuid), newFix("unkey", j.holder))
		return
	}
	j.say("I7", j.keys.unique(), fmt.Sprintf("%s: not held by its owner", unescaped(y)),
		fmt.Sprintf("give %s its unique key %s", j.uuid, unescaped(y)), newFix("hold", j.holder))
}

// limits checks the indexes of times: a job that may wait only so long is in `expiry`, and `removals` names ended jobs.
func (j *judgement) limits() {
	s := j.status
	if j.removal && !s.State.Ended() {
		j.unref("I2", j.keys.removals(), "zset", "names a job that is "+s.State.String())
	}
	if s.ExpiresAt.IsZero() {
		if j.expires != 0 {
			j.unref("I2", j.keys.expiry(), "zset", "names a job that does not expire")
		}
		return
	}
	if at := s.ExpiresAt.UnixMilli(); s.State.live() && j.expires != at {
		j.say("I2", j.keys.expiry(), fmt.Sprintf("expires at %d, listed for %d", at, j.expires),
			fmt.Sprintf("list %s to expire", j.uuid), newFix("expiry", strconv.FormatInt(at, 10)))
	}
}
