package conveyor

import (
	"bytes"
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

// keyDigits is the length of a new secret: 32 random bytes in hexadecimal.
const keyDigits = 64

// maxKeyText bounds what a key file may hold, in bytes: a full ring of long secrets, each with a comment.
const maxKeyText = 64 << 10

// NewSecret makes a secret of 256 random bits.
func NewSecret() string {
	var secret [keyDigits / 2]byte
	_, _ = rand.Read(secret[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(secret[:])
}

// keyList takes the secrets out of a text: separated by commas or line breaks, and what follows a # at the beginning of a word left out.
// An empty place in the list is a mistake: a variable that was not set stood there, and the key that follows would sign instead.
func keyList(text string) ([]string, error) {
	var secrets []string
	for line := range strings.Lines(text) {
		line = withoutComment(line)
		if line == "" {
			continue
		}
		for _, secret := range strings.Split(line, ",") {
			if secret = strings.TrimSpace(secret); secret == "" {
				return nil, errors.New("a key of the list is empty: there are two commas in a row, or one at an end")
			}
			secrets = append(secrets, secret)
		}
	}
	if len(secrets) == 0 {
		return nil, errors.New("it is empty")
	}
	return secrets, nil
}

// withoutComment is a line without the comment at its end and without white space around it.
func withoutComment(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
			break
		}
	}
	return strings.TrimSpace(line)
}

// digits checks the secrets of the key file that this package makes: each is exactly 64 hexadecimal digits, so that one that was cut
// short is found.
func digits(secrets []string) error {
	for i, secret := range secrets {
		if _, err := hex.DecodeString(secret); err != nil || len(secret) != keyDigits {
			return fmt.Errorf("key %d of %d is another", i+1, len(secrets))
		}
	}
	return nil
}

// readKeyFile reads the file's secrets. given says that the user names it: then it may be one that a supervisor of containers has put
// there, which a group may read and which holds secrets of any form.
func readKeyFile(name string, given bool) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the key file %s is not a regular file: move it away, or set %s", name, KeyVariable)
	}
	closed := fs.FileMode(0o077)
	if given {
		closed = 0o037
	}
	if info.Mode().Perm()&closed != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("the key file %s can be used by others (mode %04o): run `chmod 600 %s`, and make a new key if others had access",
			name, info.Mode().Perm(), name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeyText+1))
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	if len(data) > maxKeyText {
		return nil, fmt.Errorf("the key file %s has more than %d bytes: it is something else", name, maxKeyText)
	}
	secrets, err := keyList(string(data))
	if err == nil && !given {
		err = digits(secrets)
	}
	switch {
	case err == nil:
		return secrets, nil
	case given:
		return nil, fmt.Errorf("the key file %s does not hold a key, which is one line of at least %d characters: %w", name, minSecret, err)
	default:
		return nil, fmt.Errorf("the key file %s does not hold a key, which is one line of %d hexadecimal digits: %w: restore it, "+
			"or remove it to have a new key made (jobs signed and values sealed under the old one stay unusable)", name, keyDigits, err)
	}
}

// makeKeyFile puts a new random key at name unless somebody else was faster. The key is complete under another name before
// it is linked to its own, so nobody reads half of one.
func makeKeyFile(name string) (err error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text := NewSecret() + "\n"
	temporary, err := keyFileBeside(name, text)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary) }()
	err = os.Link(temporary, name)
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

// keyFileBeside writes a file of mode 0600 into the directory of another.
func keyFileBeside(name, text string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".key-*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// RotateKeyFile makes a new key and puts it first into the key file, which keeps the others: from now on it signs and seals, and what
// they made is still verified and opened. It returns the ring of the file as it is by then. Without a file it makes one.
func RotateKeyFile(name string) (*Keyring, error) {
	return changeKeyFile(name, func(lines []byte) ([]byte, error) {
		return append([]byte(NewSecret()+"\n"), lines...), nil
	})
}

// RetireKey takes the key with this id out of the key file. What it has made cannot be verified or opened with that file any more. The
// only key of a file is not taken out.
func RetireKey(name, id string) (*Keyring, error) {
	return changeKeyFile(name, func(text []byte) ([]byte, error) {
		var kept []byte
		found := false
		for line := range bytes.Lines(text) {
			if secret := withoutComment(string(line)); secret != "" {
				if k, err := newKey(secret); err == nil && k.id == id {
					found = true
					continue
				}
			}
			kept = append(kept, line...)
		}
		if !found {
			return nil, fmt.Errorf("key %q: %w: the file %s does not hold it", id, ErrUnknownKey, name)
		}
		return kept, nil
	})
}

// changeKeyFile replaces a key file as a whole, one process at a time.
func changeKeyFile(name string, change func(text []byte) ([]byte, error)) (_ *Keyring, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, fmt.Errorf("change the key file: %w", err)
	}
	lock := name + ".changing"
	g, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("change the key file: another process does so now; if none does, remove %s", lock)
	}
	if err != nil {
		return nil, fmt.Errorf("change the key file: %w", err)
	}
	_ = g.Close()
	defer func() { _ = os.Remove(lock) }()

	text, err := os.ReadFile(name)
	if err == nil {
		_, err = readKeyFile(name, false)
	} else if errors.Is(err, fs.ErrNotExist) {
		text, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	if text, err = change(text); err != nil {
		return nil, err
	}
	secrets, err := keyList(string(text))
	if err != nil {
		return nil, errors.New("the key file would be without a key: it needs one")
	}
	ring, err := NewKeyring(secrets...)
	if err != nil {
		return nil, err
	}
	temporary, err := keyFileBeside(name, string(text))
	if err != nil {
		return nil, fmt.Errorf("change the key file: %w", err)
	}
	if err := os.Rename(temporary, name); err != nil {
		_ = os.Remove(temporary)
		return nil, fmt.Errorf("change the key file: %w", err)
	}
	return ring, nil
}
