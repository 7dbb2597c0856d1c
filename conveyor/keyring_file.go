package conveyor

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// KeyVariable is the environment variable that holds the secret. It wins over the key file.
const KeyVariable = "WAYBILL_KEY"

// keyDigits is the length of the secret in a key file: 32 random bytes in hexadecimal, on one line.
const keyDigits = 64

// KeyringOptions say where the secret is.
type KeyringOptions struct {
	// File is the key file. Default: waybill/key in the user's configuration directory.
	File string
	// ReadOnly makes no key file: without a key LoadKeyring returns a nil ring, and only what needs a key fails.
	ReadOnly bool
	// Getenv reads KeyVariable. Default: os.Getenv.
	Getenv func(string) string
}

// LoadKeyring returns the ring of the secret in WAYBILL_KEY or, without it, in the key file, which it makes when there is
// none. Processes that start together agree on one key. A key file that others may read, or that holds anything but a
// key, is an error and is left as it is.
func LoadKeyring(o KeyringOptions) (*Keyring, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if secret := o.Getenv(KeyVariable); strings.TrimSpace(secret) != "" {
		k, err := NewKeyring(secret)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", KeyVariable, err)
		}
		return k, nil
	}
	if o.File == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			if o.ReadOnly {
				return nil, nil
			}
			return nil, fmt.Errorf("find the key file: %w: set %s instead", err, KeyVariable)
		}
		o.File = filepath.Join(dir, "waybill", "key")
	}

	secret, err := readKeyFile(o.File)
	if errors.Is(err, fs.ErrNotExist) {
		if o.ReadOnly {
			return nil, nil
		}
		if err := makeKeyFile(o.File); err != nil {
			return nil, fmt.Errorf("make the key file: %w: make its directory writable, or set %s", err, KeyVariable)
		}
		secret, err = readKeyFile(o.File)
	}
	if err != nil {
		return nil, err
	}
	return NewKeyring(secret)
}

func readKeyFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("read the key file: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read the key file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("the key file %s is not a regular file: move it away, or set %s", name, KeyVariable)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 && runtime.GOOS != "windows" {
		return "", fmt.Errorf("the key file %s can be used by others (mode %04o): run `chmod 600 %s`, and make a new key if others had access",
			name, info.Mode().Perm(), name)
	}
	data, err := io.ReadAll(io.LimitReader(f, 4*keyDigits))
	if err != nil {
		return "", fmt.Errorf("read the key file: %w", err)
	}
	secret := strings.TrimSpace(string(data))
	if _, err := hex.DecodeString(secret); err != nil || len(secret) != keyDigits {
		return "", fmt.Errorf("the key file %s does not hold a key, which is one line of %d hexadecimal digits: restore it, "+
			"or remove it to have a new key made (jobs signed and values sealed under the old one stay unusable)", name, keyDigits)
	}
	return secret, nil
}

// makeKeyFile puts a new random key at name unless somebody else was faster. The key is complete under another name before
// it is linked to its own, so nobody reads half of one.
func makeKeyFile(name string) (err error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var secret [keyDigits / 2]byte
	_, _ = rand.Read(secret[:]) // never fails: crypto/rand ends the program instead
	text := hex.EncodeToString(secret[:]) + "\n"

	f, err := os.CreateTemp(dir, ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}

	// A file system without links: whoever creates the file writes it.
	g, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = g.WriteString(text)
	return errors.Join(err, g.Sync(), g.Close())
}
