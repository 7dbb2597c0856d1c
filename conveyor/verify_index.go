package conveyor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
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
	if s.ExpiresAt.IsZero() || s.Inbox() != "" && (s.State == StateRunning || s.State == StateOnHold) {
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

// labels checks that a labelled job's labels are there, and that exactly the sets of these labels name it.
func (j *judgement) labels() {
	flagged, readable := strings.Contains(flagsOf(j.entry), "l"), packLabels(unpackLabels(j.packed)) == j.packed
	if !readable || flagged != (j.packed != "") {
		packed, detail := j.packed, "its entry does not say that it has labels"
		switch {
		case !readable:
			packed, detail = j.lostLabels(), "its labels are unreadable: "+excerpt(j.packed)
		case packed == "":
			packed, detail = j.lostLabels(), "its labels are gone"
		}
		repair := fmt.Sprintf("give %s its labels again", j.uuid)
		if packed == "" {
			repair = fmt.Sprintf("note that %s has no labels", j.uuid)
		}
		j.say("I2", j.keys.labels(), detail, repair, newFix("relabel", packed))
		return
	}
	want := labelSets(j.entry, j.packed)
	for _, name := range want {
		if !j.sets[name] {
			j.say("I2", j.keys.key(name), "does not name a job with this label", fmt.Sprintf("list %s in %s", j.uuid, name), newFix("index", name))
		}
	}
	for name := range j.sets {
		if !strings.HasPrefix(name, "cycle:") && !slices.Contains(want, name) {
			j.unref("I2", j.keys.key(name), "set", "names a job without this label")
		}
	}
}

// lostLabels are the labels of a job whose stored ones are gone: as the sets have them, else as its bytes do.
func (j *judgement) lostLabels() string {
	var parts []string
	for name := range j.sets {
		if strings.HasPrefix(name, "cycle:") {
			continue
		}
		_, label, _ := strings.Cut(name, ":")
		if key, value, _ := strings.Cut(label, "="); key != "" && value != "" {
			parts = append(parts, label)
		}
	}
	slices.Sort(parts)
	if len(parts) > 0 {
		return strings.Join(slices.Compact(parts), ",")
	}
	job := &wire.Job{}
	if proto.Unmarshal([]byte(j.full), job) != nil || checkLabels(job.Labels) != nil {
		return ""
	}
	return packLabels(job.Labels)
}

// labelSets are the sets that name a job with these labels, without the namespace.
func labelSets(entry, packed string) []string {
	if packed == "" || entry == "" {
		return nil
	}
	class := "label:"
	switch state := stateOf[entry[0]]; {
	case state.Ended():
		class = "past:"
	case strings.Contains(flagsOf(entry), "t"):
		class = "kind:"
	}
	sets := map[string]bool{class + "=": true}
	for part := range strings.SplitSeq(packed, ",") {
		name, value, _ := strings.Cut(part, "=")
		sets[class+part], sets[class+name+"="], sets[class+"="+value] = true, true, true
	}
	return slices.Sorted(maps.Keys(sets))
}
