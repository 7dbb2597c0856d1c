package conveyor

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// What can be wrong with keys, signatures and seals. All are fatal: the same call will fail again.
var (
	// ErrNoKey says that an operation needs a key and there is none.
	ErrNoKey = errors.New("no key: set WAYBILL_KEY, or let `waybill init` or `waybill apply` make a key file")
	// ErrUnknownKey says that something was signed or sealed under a key that is not in the keyring. The message names its id.
	ErrUnknownKey = errors.New("key not in the keyring")
	// ErrUnsigned says that a job carries no signature.
	ErrUnsigned = errors.New("job is not signed")
	// ErrBadSignature says that a signature under a known key does not fit: the job was changed, or is not for here.
	ErrBadSignature = errors.New("wrong signature")
	// ErrBadSeal says that a sealed payload under a known key does not open: it was changed, or sealed for another job.
	ErrBadSeal = errors.New("sealed payload does not open")
)

// minSecret is the least length of a secret in bytes. Signatures and digests are in Redis for anyone to test guesses on,
// so a word of a dictionary is not enough.
const minSecret = 16

// Keyring signs and verifies jobs, seals and opens payloads, and digests what must not be guessed. Everything derives from
// one secret, so whoever has the secret has all three keys. It holds one key; every id is checked all the same, so that a
// ring of several (for rotation) changes no caller.
//
// A nil *Keyring is a ring without a key: it holds no id and every operation that needs a key answers ErrNoKey. It is
// safe for concurrent use.
type Keyring struct {
	id                        string
	sign, seal, nonce, digest [sha256.Size]byte
}

// NewKeyring derives a keyring from a secret of at least 16 bytes; white space around it does not count.
func NewKeyring(secret string) (*Keyring, error) {
	secret = strings.TrimSpace(secret)
	if len(secret) < minSecret {
		return nil, fmt.Errorf("the key has %d characters and needs at least %d: `openssl rand -hex 32` makes a good one",
			len(secret), minSecret)
	}
	k := &Keyring{}
	var id [sha256.Size]byte
	for label, key := range map[string]*[sha256.Size]byte{
		"id": &id, "sign": &k.sign, "seal": &k.seal, "nonce": &k.nonce, "digest": &k.digest,
	} {
		derived, err := hkdf.Key(sha256.New, []byte(secret), nil, "waybill key v1 "+label, len(key))
		if err != nil {
			return nil, fmt.Errorf("derive the %s key: %w", label, err)
		}
		copy(key[:], derived)
	}
	k.id = hex.EncodeToString(id[:4])
	return k, nil
}

// ID names the key in records, signatures and seals: eight hexadecimal digits that tell nothing about it. A nil ring has "".
func (k *Keyring) ID() string {
	if k == nil {
		return ""
	}
	return k.id
}

// IDs are the ids of all keys held, as a worker registers them.
func (k *Keyring) IDs() []string {
	if k == nil {
		return nil
	}
	return []string{k.id}
}

// Holds tells whether the key with this id is in the ring.
func (k *Keyring) Holds(id string) bool { return k != nil && id == k.id }

// processDigest is the digest key of a ring without a key.
var processDigest = sync.OnceValue(func() (key [sha256.Size]byte) {
	_, _ = rand.Read(key[:]) // never fails: crypto/rand ends the program instead
	return key
})

// Digest is a keyed hash of data (HMAC-SHA-256), for data that could be guessed from a plain hash. A nil ring digests under
// a random key of this process: such a digest equals itself and none that was ever recorded, which is what a first plan
// on a machine without a key needs. Whoever stores digests checks ID first.
func (k *Keyring) Digest(data []byte) [sha256.Size]byte {
	if k == nil {
		key := processDigest()
		return mac(key[:], "digest v1", data)
	}
	return mac(k.digest[:], "digest v1", data)
}

// mac is HMAC-SHA-256 over a label and fields. Each is preceded by its length, so no two lists of fields have the same
// encoding.
func mac(key []byte, label string, fields ...[]byte) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, key)
	h.Write(prefixed([]byte(label), fields...))
	h.Sum(sum[:0])
	return sum
}

// prefixed is the fields one after the other, each after its length as 8 bytes, big end first.
func prefixed(first []byte, rest ...[]byte) []byte {
	size := 8 + len(first)
	for _, f := range rest {
		size += 8 + len(f)
	}
	out := make([]byte, 0, size)
	out = append(binary.BigEndian.AppendUint64(out, uint64(len(first))), first...)
	for _, f := range rest {
		out = append(binary.BigEndian.AppendUint64(out, uint64(len(f))), f...)
	}
	return out
}
