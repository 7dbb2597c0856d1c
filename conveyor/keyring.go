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
	"slices"
	"strings"
	"sync"
)

// What can be wrong with keys, signatures and seals. All are fatal: the same call will fail again.
var (
	// ErrNoKey says that an operation needs a key and there is none.
	ErrNoKey = errors.New("no key: set WAYBILL_KEY, or let `waybill init` or `waybill apply` make a key file")
	// ErrUnknownKey says that something was signed or sealed under a key that is not in the keyring. The message names its id.
	ErrUnknownKey = errors.New("key not in the keyring")
	// ErrUntrustedKey is ErrUnknownKey of a key that the ring was told not to use, see Keyring.Only.
	ErrUntrustedKey = fmt.Errorf("%w for this use: it is there and not trusted", ErrUnknownKey)
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

// Keyring signs and verifies jobs, seals and opens payloads, and digests what must not be guessed. It holds one key or several:
// the first signs, seals and digests; every one of them verifies and opens what it made, which is how a key is replaced while
// jobs of the one before it still wait. All that a key does derives from its secret, so whoever has the secret has it all.
//
// A nil *Keyring is a ring without a key: it holds no id and every operation that needs a key answers ErrNoKey. It is
// safe for concurrent use.
type Keyring struct {
	keys      []*key   // at least one
	untrusted []string // ids of keys that were taken out of the ring by Only
}

// key is what derives from one secret.
type key struct {
	id                        string
	sign, seal, nonce, digest [sha256.Size]byte
}

// MaxKeys bounds a ring. Workers tell everybody the ids of their keys with every beat.
const MaxKeys = 32

// NewKeyring derives a keyring from secrets of at least 16 bytes, no two of them the same; white space around them does not count.
// The first is the one that signs and seals.
func NewKeyring(secrets ...string) (*Keyring, error) {
	if len(secrets) == 0 {
		return nil, ErrNoKey
	}
	if len(secrets) > MaxKeys {
		return nil, fmt.Errorf("there are %d keys, and a ring has at most %d: leave out those that nothing needs any more", len(secrets), MaxKeys)
	}
	r := &Keyring{}
	for i, secret := range secrets {
		which := "the key"
		if len(secrets) > 1 {
			which = fmt.Sprintf("key %d of %d", i+1, len(secrets))
		}
		k, err := newKey(secret)
		if err != nil {
			return nil, fmt.Errorf("%s %w", which, err)
		}
		if j := slices.Index(r.IDs(), k.id); j >= 0 {
			return nil, fmt.Errorf("%s, with the id %s, is key %d once more: give each key once", which, k.id, j+1)
		}
		r.keys = append(r.keys, k)
	}
	return r, nil
}

func newKey(secret string) (*key, error) {
	secret = strings.TrimSpace(secret)
	if len(secret) < minSecret {
		return nil, fmt.Errorf("has %d characters and needs at least %d: `waybill keys new` makes a good one", len(secret), minSecret)
	}
	k := &key{}
	var id [sha256.Size]byte
	for label, to := range map[string]*[sha256.Size]byte{
		"id": &id, "sign": &k.sign, "seal": &k.seal, "nonce": &k.nonce, "digest": &k.digest,
	} {
		derived, err := hkdf.Key(sha256.New, []byte(secret), nil, "waybill key v1 "+label, len(to))
		if err != nil {
			return nil, fmt.Errorf("has no %s key: %w", label, err)
		}
		copy(to[:], derived)
	}
	k.id = hex.EncodeToString(id[:4])
	return k, nil
}

// ID names the first key, as records, signatures and seals do: eight hexadecimal digits that tell nothing about it. A nil ring has "".
func (r *Keyring) ID() string {
	if r == nil {
		return ""
	}
	return r.keys[0].id
}

// IDs are the ids of all keys held, the first one first, as a worker registers them.
func (r *Keyring) IDs() []string {
	if r == nil {
		return nil
	}
	ids := make([]string, len(r.keys))
	for i, k := range r.keys {
		ids[i] = k.id
	}
	return ids
}

// Holds tells whether the key with this id is in the ring.
func (r *Keyring) Holds(id string) bool { return r.key(id) != nil }

// key finds a key by its id, nil for none.
func (r *Keyring) key(id string) *key {
	if r != nil {
		for _, k := range r.keys {
			if k.id == id {
				return k
			}
		}
	}
	return nil
}

// Only is a ring of these keys alone, in the order of r. What it says about others that r has is that they are not trusted
// (ErrUntrustedKey). An id that r does not have is an error.
func (r *Keyring) Only(ids ...string) (*Keyring, error) {
	only := &Keyring{}
	for _, id := range ids {
		if !r.Holds(id) {
			have := "it has none"
			if r != nil {
				have = "it has " + strings.Join(r.IDs(), ", ")
			}
			return nil, fmt.Errorf("key %q: %w: %s", id, ErrUnknownKey, have)
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("no key is named")
	}
	for _, k := range r.keys {
		if slices.Contains(ids, k.id) {
			only.keys = append(only.keys, k)
		} else {
			only.untrusted = append(only.untrusted, k.id)
		}
	}
	return only, nil
}

// missing is the error of a key that the ring does not hold. done is what was done with it.
func (r *Keyring) missing(done, id string) error {
	if r != nil && slices.Contains(r.untrusted, id) {
		return fmt.Errorf("%s with key %q: %w", done, id, ErrUntrustedKey)
	}
	return fmt.Errorf("%s with key %q: %w", done, id, ErrUnknownKey)
}

// processDigest is the digest key of a ring without a key.
var processDigest = sync.OnceValue(func() (key [sha256.Size]byte) {
	_, _ = rand.Read(key[:]) // never fails: crypto/rand ends the program instead
	return key
})

// Digest is a keyed hash of data (HMAC-SHA-256) under the first key, for data that could be guessed from a plain hash. A nil ring
// digests under a random key of this process: such a digest equals itself and none that was ever recorded, which is what a first plan
// on a machine without a key needs. Whoever stores digests checks ID first.
func (r *Keyring) Digest(data []byte) [sha256.Size]byte {
	if r == nil {
		key := processDigest()
		return mac(key[:], "digest v1", data)
	}
	return mac(r.keys[0].digest[:], "digest v1", data)
}

// DigestUnder is Digest under the key with this id; false when the ring does not hold it.
func (r *Keyring) DigestUnder(id string, data []byte) (sum [sha256.Size]byte, ok bool) {
	k := r.key(id)
	if k == nil {
		return sum, false
	}
	return mac(k.digest[:], "digest v1", data), true
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
