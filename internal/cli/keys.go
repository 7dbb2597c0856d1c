package cli

import (
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// keyring reads the user's keys. With make it makes one on first use; without, a missing key is a nil ring.
func (a *app) keyring(make bool) (*conveyor.Keyring, error) {
	k, _, err := a.ring(make)
	return k, err
}

// ring is keyring that says where the keys come from. WAYBILL_KEY_COMMAND is run once.
func (a *app) ring(make bool) (*conveyor.Keyring, conveyor.KeySource, error) {
	if a.keys != nil {
		return a.keys, a.keysFrom, nil
	}
	k, err := conveyor.LoadKeyring(conveyor.KeyringOptions{Getenv: a.getenv, ReadOnly: !make, Source: &a.keysFrom})
	if err != nil {
		return nil, a.keysFrom, fail("Cannot use the key", "%v.", err)
	}
	a.keys = k
	return k, a.keysFrom, nil
}

// planOptions are the planner's, with the digests of a keyring.
func planOptions(k *conveyor.Keyring) planner.Options {
	return planner.Options{
		KeyID: k.ID(), Older: k.IDs()[min(1, len(k.IDs())):],
		DigestUnder: func(keyID string, data []byte) (planner.Digest, bool) {
			sum, ok := k.DigestUnder(keyID, data)
			return planner.Digest(sum[:len(planner.Digest{})]), ok
		},
		Digest: func(_ bool, data []byte) (planner.Digest, string) {
			sum := k.Digest(data)
			return planner.Digest(sum[:len(planner.Digest{})]), k.ID()
		},
	}
}
