package cli

import (
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/planner"
)

// keyring reads the user's key. With make it makes one on first use; without, a missing key is a nil ring.
func (a *app) keyring(make bool) (*conveyor.Keyring, error) {
	k, err := conveyor.LoadKeyring(conveyor.KeyringOptions{Getenv: a.getenv, ReadOnly: !make})
	if err != nil {
		return nil, fail("Cannot use the key", "%v.", err)
	}
	return k, nil
}

// planOptions are the planner's, with the digests of a keyring.
func planOptions(k *conveyor.Keyring) planner.Options {
	return planner.Options{
		KeyID: k.ID(),
		Digest: func(_ bool, data []byte) (planner.Digest, string) {
			sum := k.Digest(data)
			return planner.Digest(sum[:len(planner.Digest{})]), k.ID()
		},
	}
}
