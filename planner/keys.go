package planner

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// SignedType tells whether a job type makes its worker act on what the payload says: run a command, call a server. Such a
// job carries a signature, so that whoever can write to the store cannot thereby do the same.
func SignedType(jobType string) bool { return jobType == "exec" || jobType == "http" }

// Signed tells whether a job carries a signature: one of a signed type, and one that asks for secrets of its worker.
func Signed(j *config.Job) bool { return SignedType(j.Type) || len(j.Secrets) > 0 }

// asked finds in a definition what stands for a secret. Within JSON its quotes have backslashes.
var asked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{(secret_[a-z]+\()\\("[^"\\]+)\\("\))\}`) })

// Secrets are the names of the secrets that the job of a record asks its worker for, as far as the definition shows them.
func (r *Record) Secrets() (names []string) {
	if !bytes.Contains(r.Definition, []byte("${secret_")) {
		return nil
	}
	for _, found := range asked().FindAllSubmatch(r.Definition, -1) {
		if name, ok := config.ParseSecret(string(bytes.Join(found[1:], nil))); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// NeedsKey is the id of the key without which no worker can run the job of a record, as far as the record says; "" for none.
func (r *Record) NeedsKey() string {
	if r.SignKey != "" {
		return r.SignKey
	}
	return r.KeyID
}

// holds tells whether digests under a key can be made here.
func (m *maker) holds(keyID string) bool {
	return keyID == m.o.KeyID || m.o.DigestUnder != nil && slices.Contains(m.o.Older, keyID)
}

// rotated tells whether a row's record was digested under an older key that is here, and what is declared is digested too.
func (m *maker) rotated(r *Row) bool {
	return r.Prior != nil && r.Prior.KeyID != "" && r.Prior.KeyID != m.o.KeyID && m.holds(r.Prior.KeyID) && r.Job.Sensitive
}

// olderDigests makes digesters under older keys, one for each, where they are wanted.
func (m *maker) olderDigests(d *digester) func(keyID string) *digester {
	m.older = map[int32]bool{}
	made := map[string]*digester{}
	return func(keyID string) *digester {
		if made[keyID] == nil {
			made[keyID] = &digester{g: d.g, keyed: m.under(keyID)}
		}
		return made[keyID]
	}
}

// under is Options.Digest under a key that is here.
func (m *maker) under(keyID string) func(sensitive bool, data []byte) (Digest, string) {
	if keyID == "" || keyID == m.o.KeyID || m.o.DigestUnder == nil {
		return m.o.Digest
	}
	return func(_ bool, data []byte) (Digest, string) {
		digest, _ := m.o.DigestUnder(keyID, data)
		return digest, keyID
	}
}

// workDiffers tells whether what is declared does another work than what is recorded.
func (m *maker) workDiffers(job int32) bool {
	r := &m.rows[job]
	return (r.Work != r.Prior.Work || r.KeyID != r.Prior.KeyID) && !m.older[job] && m.renamed[job] == nil
}

// rekey is what -rekey does about a row that stands: what waits or runs gets its bytes signed and sealed under the key of today, what
// is over a record under it. Where ignore_changes leaves a difference alone, what is stored is not what is declared, and stays.
func (m *maker) rekey(r *Row, c situation, d decision) decision {
	if d.action != NoOp || c.ignored || c.ignoredWork || r.Importing() {
		return d
	}
	sealed := r.Job.Sensitive && r.Prior.KeyID != m.o.KeyID
	signed := Signed(r.Job) && r.Prior.SignKey != m.o.KeyID && !r.Live.Status.Ended()
	if !sealed && !signed {
		return d
	}
	c.handling = true
	again := c.decide()
	if again.leave || again.action != Update && again.action != Rerecord {
		return d
	}
	again.reason = ReasonRekeyed
	return again
}

// rekeyed is why a row is written under another key, as a clause.
func (r *Row) rekeyed() string {
	was := r.Prior.SignKey
	if was == "" {
		was = r.Prior.KeyID
	}
	if was == "" {
		return "it is signed anew with the key of today"
	}
	return fmt.Sprintf("key %s is replaced", was)
}

// foreignKeys refuses to compare what was digested under another key: any diff shown would be a guess.
func (m *maker) foreignKeys(jobs []int) *hcl.Diagnostic {
	var names, keys []string
	for _, job := range jobs {
		names = append(names, m.g.names[job])
		keys = append(keys, m.rows[job].Prior.KeyID)
	}
	slices.Sort(keys)
	have := "there is no key here"
	if m.o.KeyID != "" {
		have = "the key here has the id " + m.o.KeyID
		if len(m.o.Older) > 0 {
			have = "the keys here have the ids " + listed(append([]string{m.o.KeyID}, m.o.Older...), 5)
		}
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "State was written under another key", Subject: m.rows[jobs[0]].Job.Range.Ptr(),
		Detail: fmt.Sprintf("Sensitive values of %s were recorded under the key with the id %s, and %s, so nobody can tell what changed. "+
			"Set WAYBILL_KEY to the key it was applied with, or put that one after the key here, as in WAYBILL_KEY=new,old, and run "+
			"`waybill apply -rekey`. If it is lost, `waybill destroy` still works, and the next apply starts anew.", listed(names, 5), listed(slices.Compact(keys), 5), have),
	}
}
