package conveyor

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// sealMagic begins every sealed payload and names its layout: magic, key id, nonce, ciphertext with tag.
var sealMagic = []byte("wbs1")

const (
	keyIDLen = 8
	nonceLen = 12
)

// Seal encrypts a payload with AES-256-GCM for a job of this type at this address, and for no other: whoever can write to
// Redis must not get it opened by putting it into a job whose handler prints it. The nonce is an HMAC over type, address and
// payload: the same input gives the same bytes, so plans stay deterministic, and different inputs never share a nonce
// (short of a collision in 96 bits). Equal sealed payloads tell that the plain ones are equal, and nothing else.
func (r *Keyring) Seal(jobType, address string, payload []byte) ([]byte, error) {
	if r == nil {
		return nil, fmt.Errorf("seal the payload of %s: %w", address, ErrNoKey)
	}
	k := r.keys[0]
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	sum := mac(k.nonce[:], "nonce v1", []byte(jobType), []byte(address), payload)
	nonce := sum[:nonceLen]

	out := make([]byte, 0, len(sealMagic)+keyIDLen+nonceLen+len(payload)+aead.Overhead())
	out = append(append(append(out, sealMagic...), k.id...), nonce...)
	return aead.Seal(out, nonce, payload, sealedFor(jobType, address, k.id)), nil
}

// Open decrypts what Seal made for the same type and address: ErrUnknownKey names the key that is missing, ErrBadSeal says
// that the bytes are no sealed payload, were changed, or are for another job.
func (r *Keyring) Open(jobType, address string, sealed []byte) ([]byte, error) {
	header := len(sealMagic) + keyIDLen
	if len(sealed) < header+nonceLen || !bytes.HasPrefix(sealed, sealMagic) {
		return nil, fmt.Errorf("%w: not in the format of one", ErrBadSeal)
	}
	id := string(sealed[len(sealMagic):header])
	k := r.key(id)
	if k == nil {
		return nil, r.missing("sealed", id)
	}
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	payload, err := aead.Open(nil, sealed[header:header+nonceLen], sealed[header+nonceLen:], sealedFor(jobType, address, id))
	if err != nil {
		return nil, fmt.Errorf("%w under key %s: it was changed, or sealed for another type or address", ErrBadSeal, id)
	}
	return payload, nil
}

// SealJob seals the job's payload for its type and name, which stay as they are from now on, and names the key. Sign
// comes after it.
func (r *Keyring) SealJob(job *wire.Job) error {
	sealed, err := r.Seal(job.GetType(), job.GetName(), job.GetPayload())
	if err != nil {
		return err
	}
	job.Payload, job.SealKey = sealed, r.ID()
	return nil
}

// OpenJob returns the job's plain payload, sealed or not. The job itself stays sealed.
func (r *Keyring) OpenJob(job *wire.Job) ([]byte, error) {
	if job.GetSealKey() == "" {
		return job.GetPayload(), nil
	}
	if !r.Holds(job.GetSealKey()) {
		return nil, r.missing("sealed", job.GetSealKey())
	}
	return r.Open(job.GetType(), job.GetName(), job.GetPayload())
}

func (k *key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.seal[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// sealedFor is the additional data that binds a sealed payload to its job and key.
func sealedFor(jobType, address, keyID string) []byte {
	return prefixed([]byte("seal v1"), []byte(jobType), []byte(address), []byte(keyID))
}
