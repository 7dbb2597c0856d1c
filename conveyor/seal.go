package conveyor

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// A seal names what is sealed: the payload alone, or after the texts to be masked, which come one by one after their lengths as varints, and
// after a length of 0. It begins what is sealed, which goes on with key id, nonce, ciphertext with tag.
type seal struct {
	magic, label, nonce string
}

var (
	sealPlain  = seal{"wbs1", "seal v1", "nonce v1"}
	sealHiding = seal{"wbs2", "seal v2", "nonce v2"}
)

const (
	magicLen = 4
	keyIDLen = 8
	nonceLen = 12
)

// Seal encrypts a payload with AES-256-GCM for a job of this type at this address, and for no other: whoever can write to
// Redis must not get it opened by putting it into a job whose handler prints it. The nonce is an HMAC over type, address and
// payload: the same input gives the same bytes, so plans stay deterministic, and different inputs never share a nonce
// (short of a collision in 96 bits). Equal sealed payloads tell that the plain ones are equal, and nothing else.
func (r *Keyring) Seal(jobType, address string, payload []byte) ([]byte, error) {
	return r.sealAs(sealPlain, jobType, address, payload)
}

func (r *Keyring) sealAs(as seal, jobType, address string, payload []byte) ([]byte, error) {
	if r == nil {
		return nil, fmt.Errorf("seal the payload of %s: %w", address, ErrNoKey)
	}
	k := r.keys[0]
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	sum := mac(k.nonce[:], as.nonce, []byte(jobType), []byte(address), payload)
	nonce := sum[:nonceLen]

	out := make([]byte, 0, magicLen+keyIDLen+nonceLen+len(payload)+aead.Overhead())
	out = append(append(append(out, as.magic...), k.id...), nonce...)
	return aead.Seal(out, nonce, payload, as.sealedFor(jobType, address, k.id)), nil
}

// Open decrypts what Seal made for the same type and address: ErrUnknownKey names the key that is missing, ErrBadSeal says
// that the bytes are no sealed payload, were changed, or are for another job.
func (r *Keyring) Open(jobType, address string, sealed []byte) ([]byte, error) {
	return r.openAs(sealPlain, jobType, address, sealed)
}

func (r *Keyring) openAs(as seal, jobType, address string, sealed []byte) ([]byte, error) {
	const header = magicLen + keyIDLen
	if len(sealed) < header+nonceLen || string(sealed[:magicLen]) != as.magic {
		return nil, fmt.Errorf("%w: not in the format of one", ErrBadSeal)
	}
	id := string(sealed[magicLen:header])
	k := r.key(id)
	if k == nil {
		return nil, r.missing("sealed", id)
	}
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	payload, err := aead.Open(nil, sealed[header:header+nonceLen], sealed[header+nonceLen:], as.sealedFor(jobType, address, id))
	if err != nil {
		return nil, fmt.Errorf("%w under key %s: it was changed, or sealed for another type or address", ErrBadSeal, id)
	}
	return payload, nil
}

// SealJob seals the job's payload for its type and name, which stay as they are from now on, and names the key. Sign
// comes after it. The job's worker masks the texts to hide in what its attempts tell the store, see Attempt.Mask.
func (r *Keyring) SealJob(job *wire.Job, hide ...string) error {
	as, data := sealPlain, job.GetPayload()
	if len(hide) > 0 {
		as, data = sealHiding, hiding(hide, data)
	}
	sealed, err := r.sealAs(as, job.GetType(), job.GetName(), data)
	if err != nil {
		return err
	}
	job.Payload, job.SealKey = sealed, r.ID()
	return nil
}

// OpenJob returns the job's plain payload, sealed or not. The job itself stays sealed.
func (r *Keyring) OpenJob(job *wire.Job) ([]byte, error) {
	payload, _, err := r.openJob(job)
	return payload, err
}

// openJob is OpenJob, with the texts to hide.
func (r *Keyring) openJob(job *wire.Job) (payload []byte, hide []string, err error) {
	sealed := job.GetPayload()
	switch {
	case job.GetSealKey() == "":
		return sealed, nil, nil
	case !r.Holds(job.GetSealKey()):
		return nil, nil, r.missing("sealed", job.GetSealKey())
	case !bytes.HasPrefix(sealed, []byte(sealHiding.magic)):
		payload, err = r.Open(job.GetType(), job.GetName(), sealed)
		return payload, nil, err
	}
	data, err := r.openAs(sealHiding, job.GetType(), job.GetName(), sealed)
	if err != nil {
		return nil, nil, err
	}
	if hide, payload, err = hidden(data); err != nil {
		return nil, nil, fmt.Errorf("%w: not in the format of one", err)
	}
	return payload, hide, nil
}

// hiding puts the texts to hide before a payload.
func hiding(hide []string, payload []byte) []byte {
	var out []byte
	for _, text := range hide {
		if text != "" {
			out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
		}
	}
	return append(append(out, 0), payload...)
}

// hidden undoes hiding.
func hidden(data []byte) (hide []string, payload []byte, err error) {
	for {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return nil, nil, ErrBadSeal
		}
		data = data[n:]
		if size == 0 {
			return hide, data, nil
		}
		hide, data = append(hide, string(data[:size])), data[size:]
	}
}

func (k *key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.seal[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// sealedFor is the additional data that binds a sealed payload to its job and key.
func (s seal) sealedFor(jobType, address, keyID string) []byte {
	return prefixed([]byte(s.label), []byte(jobType), []byte(address), []byte(keyID))
}
