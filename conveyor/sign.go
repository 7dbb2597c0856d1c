package conveyor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Sign puts the key's id and a signature on the job. It covers what a handler acts on and where: namespace, uuid, type,
// queue, timeout, payload and the jobs whose results it reads. A payload to be sealed is sealed first. Start time, edges and retries are not covered: who
// can write to Redis can delay a job or run it again, but neither change what it does nor move it elsewhere. They can change the
// results that it reads: a value of these is for an argument, a text or a body, never for what to run or whom to call. Since scripts have no
// keys, the occurrence of a template has the template's signature, and what a worker gets of a job for all has that of the job: it is over
// the uuid of these.
func (k *Keyring) Sign(namespace string, job *wire.Job) error {
	if k == nil {
		return fmt.Errorf("sign job %s: %w", job.GetUuid(), ErrNoKey)
	}
	sum := k.signature(namespace, job)
	job.SignKey, job.Signature = k.id, sum[:]
	return nil
}

// Verify checks the job's signature: ErrUnsigned without one, ErrUnknownKey when its key is not in the ring, and
// ErrBadSignature when it does not fit.
func (k *Keyring) Verify(namespace string, job *wire.Job) error {
	switch {
	case job.GetSignKey() == "" && len(job.GetSignature()) == 0:
		return ErrUnsigned
	case !k.Holds(job.GetSignKey()):
		return fmt.Errorf("signed with key %q: %w", job.GetSignKey(), ErrUnknownKey)
	}
	sum := k.signature(namespace, job)
	if !hmac.Equal(sum[:], job.GetSignature()) {
		return fmt.Errorf("%w under key %s: the job was changed after it was signed, or signed for another namespace", ErrBadSignature, k.id)
	}
	return nil
}

// signedUUID is the uuid that a job's signature covers.
func signedUUID(job *wire.Job) string {
	if t := job.GetTemplateUuid(); t != "" {
		return t
	}
	if of := job.GetDelivery().GetOf(); of != "" {
		return of
	}
	return job.GetUuid()
}

// signature takes no timeout and a timeout of zero for the same, as the worker does. A job that reads results has another label: to
// take them away, or to add some, is to change what it does.
func (k *Keyring) signature(namespace string, job *wire.Job) [sha256.Size]byte {
	timeout := binary.BigEndian.AppendUint64(nil, uint64(job.GetTimeout().AsDuration()))
	label, fields := "signature v1", [][]byte{[]byte(namespace), []byte(signedUUID(job)), []byte(job.GetType()), []byte(job.GetQueue()),
		timeout, job.GetPayload()}
	if len(job.GetResults()) > 0 {
		label = "signature v1, results"
		for _, uuid := range job.GetResults() {
			fields = append(fields, []byte(uuid))
		}
	}
	return mac(k.sign[:], label, fields...)
}
