package conveyor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Sign puts the first key's id and a signature on the job. It covers what a handler acts on and where: namespace, uuid, type,
// queue, timeout, payload, the jobs whose results it reads and the secrets that it asks for. A payload to be sealed is sealed first. Start time, edges and retries are not covered: who
// can write to Redis can delay a job or run it again, but neither change what it does nor move it elsewhere. They can change the
// results that it reads: a value of these is for an argument, a text or a body, never for what to run or whom to call. Since scripts have no
// keys, the occurrence of a template has the template's signature, and what a worker gets of a job for all has that of the job: it is over
// the uuid of these.
func (r *Keyring) Sign(namespace string, job *wire.Job) error {
	if r == nil {
		return fmt.Errorf("sign job %s: %w", job.GetUuid(), ErrNoKey)
	}
	k := r.keys[0]
	sum := k.signature(namespace, job)
	job.SignKey, job.Signature = k.id, sum[:]
	return nil
}

// Verify checks the job's signature: ErrUnsigned without one, ErrUnknownKey when its key is not in the ring, and
// ErrBadSignature when it does not fit.
func (r *Keyring) Verify(namespace string, job *wire.Job) error {
	if job.GetSignKey() == "" && len(job.GetSignature()) == 0 {
		return ErrUnsigned
	}
	k := r.key(job.GetSignKey())
	if k == nil {
		return r.missing("signed", job.GetSignKey())
	}
	sum := k.signature(namespace, job)
	if !hmac.Equal(sum[:], job.GetSignature()) {
		return fmt.Errorf("%w under key %s: the job was changed after it was signed, or is a copy of one that was signed for another uuid, queue or namespace", ErrBadSignature, k.id)
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

// signature takes no timeout and a timeout of zero for the same, as the worker does. A job that reads results or
// secrets has another label: to take them away, or to add some, is to change what it does.
func (k *key) signature(namespace string, job *wire.Job) [sha256.Size]byte {
	timeout := binary.BigEndian.AppendUint64(nil, uint64(job.GetTimeout().AsDuration()))
	label, fields := "signature v1", [][]byte{[]byte(namespace), []byte(signedUUID(job)), []byte(job.GetType()), []byte(job.GetQueue()),
		timeout, job.GetPayload()}
	switch {
	case len(job.GetSecrets()) > 0: // how many results there are tells where the names of the secrets begin
		label = "signature v1, results and secrets"
		fields = append(fields, binary.BigEndian.AppendUint64(nil, uint64(len(job.GetResults()))))
	case len(job.GetResults()) > 0:
		label = "signature v1, results"
	}
	for _, name := range slices.Concat(job.GetResults(), job.GetSecrets()) {
		fields = append(fields, []byte(name))
	}
	return mac(k.sign[:], label, fields...)
}

// SignBytes signs data that is no job under the first key, for a purpose: what was signed for one is not valid for another. The ring is
// not nil.
func (r *Keyring) SignBytes(purpose string, data []byte) (keyID string, signature []byte) {
	k := r.keys[0]
	sum := mac(k.sign[:], "bytes v1", []byte(purpose), data)
	return k.id, sum[:]
}

// VerifyBytes checks what SignBytes made: ErrUnknownKey or ErrBadSignature when it is not that.
func (r *Keyring) VerifyBytes(purpose, keyID string, signature, data []byte) error {
	k := r.key(keyID)
	if k == nil {
		return r.missing("signed", keyID)
	}
	if sum := mac(k.sign[:], "bytes v1", []byte(purpose), data); !hmac.Equal(sum[:], signature) {
		return fmt.Errorf("%w under key %s: it was changed after it was signed", ErrBadSignature, keyID)
	}
	return nil
}
