package conveyor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The environment variables that say where the keys are. At most one of them may be set; any wins over the user's key file.
const (
	// KeyVariable holds the secret itself, or several, separated by commas or line breaks: the first signs and seals. What follows a # after
	// white space is left out.
	KeyVariable = "WAYBILL_KEY"
	// KeyFileVariable names a file of the same form.
	KeyFileVariable = "WAYBILL_KEY_FILE"
	// KeyCommandVariable is a command that writes what KeyVariable would hold, as that of a password manager. It is run once for
	// each process, by no shell: words are separated by white space, and may be quoted with ' or ".
	KeyCommandVariable = "WAYBILL_KEY_COMMAND"
)

// keyCommandTimeout bounds the command. Some ask a person on another device.
const keyCommandTimeout = 2 * time.Minute

// KeyringOptions say where the keys are.
type KeyringOptions struct {
	// File is the key file of the user. Default: waybill/key in the user's configuration directory.
	File string
	// ReadOnly makes no key file: without a key LoadKeyring returns a nil ring, and only what needs a key fails.
	ReadOnly bool
	// Getenv reads the variables. Default: os.Getenv.
	Getenv func(string) string
	// Source, when not nil, is set to where the keys were found.
	Source *KeySource
}

// KeySource says where keys come from.
type KeySource struct {
	Variable string // KeyVariable, KeyFileVariable, KeyCommandVariable, or "" for the user's key file
	File     string // the key file; "" without one
}

// String says it to people.
func (s KeySource) String() string {
	switch {
	case s.File == "":
		return s.Variable
	case s.Variable == "":
		return s.File
	default:
		return s.Variable + " (" + s.File + ")"
	}
}

// LoadKeyring returns the ring of the keys that one of the variables gives or, without any, of the user's key file, which it makes
// when there is none. Processes that start together agree on one key. A key file that others may read, or that holds anything but
// keys, is an error and is left as it is.
func LoadKeyring(o KeyringOptions) (*Keyring, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Source == nil {
		o.Source = &KeySource{}
	}
	var given []string
	for _, name := range []string{KeyVariable, KeyFileVariable, KeyCommandVariable} {
		if strings.TrimSpace(o.Getenv(name)) != "" {
			given = append(given, name)
		}
	}
	if len(given) > 1 {
		return nil, fmt.Errorf("%s are set, and each says which keys to use: unset all but one", strings.Join(given, " and "))
	}
	if len(given) == 0 {
		return loadUserKey(o)
	}
	*o.Source = KeySource{Variable: given[0]}
	value := strings.TrimSpace(o.Getenv(given[0]))
	var secrets []string
	var err error
	switch given[0] {
	case KeyFileVariable:
		o.Source.File = value
		secrets, err = readKeyFile(value, true)
	case KeyCommandVariable:
		var text string
		if text, err = runKeyCommand(value); err == nil {
			secrets, err = keyList(text)
		}
	default:
		secrets, err = keyList(value)
	}
	var k *Keyring
	if err == nil {
		k, err = NewKeyring(secrets...)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", given[0], err)
	}
	return k, nil
}

// loadUserKey is the ring of the user's key file.
func loadUserKey(o KeyringOptions) (*Keyring, error) {
	if o.File == "" {
		name, err := UserKeyFile()
		if err != nil {
			if o.ReadOnly {
				return nil, nil
			}
			return nil, err
		}
		o.File = name
	}
	*o.Source = KeySource{File: o.File}
	secrets, err := readKeyFile(o.File, false)
	if errors.Is(err, fs.ErrNotExist) {
		if o.ReadOnly {
			return nil, nil
		}
		if err := makeKeyFile(o.File); err != nil {
			return nil, fmt.Errorf("make the key file: %w: make its directory writable, or set %s", err, KeyVariable)
		}
		secrets, err = readKeyFile(o.File, false)
	}
	if err != nil {
		return nil, err
	}
	k, err := NewKeyring(secrets...)
	if err != nil {
		return nil, fmt.Errorf("the key file %s: %w", o.File, err)
	}
	return k, nil
}

// UserKeyFile is the name of the user's key file.
func UserKeyFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the key file: %w: set %s instead", err, KeyVariable)
	}
	return filepath.Join(dir, "waybill", "key"), nil
}

// runKeyCommand runs a command and returns what it wrote. What it said on stderr is shown when it fails, and what it wrote never.
func runKeyCommand(line string) (string, error) {
	args, err := words(line)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyCommandTimeout)
	defer cancel()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &capped{to: &out, left: maxKeyText}, &capped{to: &said, left: 4 << 10}
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	switch text := strings.TrimSpace(said.String()); {
	case ctx.Err() != nil:
		return "", fmt.Errorf("the command %q has not ended within %s", args[0], keyCommandTimeout)
	case err != nil && text != "":
		return "", fmt.Errorf("the command %q failed: %w: it said: %s", args[0], err, text)
	case err != nil:
		return "", fmt.Errorf("the command %q failed: %w", args[0], err)
	case strings.TrimSpace(out.String()) == "":
		return "", fmt.Errorf("the command %q wrote no key to its standard output", args[0])
	}
	return out.String(), nil
}

// words splits a command line as a shell does, without anything else that a shell does.
func words(line string) ([]string, error) {
	var list []string
	var word strings.Builder
	in, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			in, quote = true, r
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if in {
				list = append(list, word.String())
				word.Reset()
			}
			in = false
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the command has a %c that is not closed", quote)
	}
	if in {
		list = append(list, word.String())
	}
	if len(list) == 0 || list[0] == "" {
		return nil, errors.New("the command names no program")
	}
	return list, nil
}

// capped passes on so many bytes and drops the rest.
type capped struct {
	to   io.Writer
	left int
}

func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	_, err := c.to.Write(p[:n])
	return len(p), err
}
