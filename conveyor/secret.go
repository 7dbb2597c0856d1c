package conveyor

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Bounds of secrets.
const (
	MaxSecrets    = 100     // that one job asks for
	MaxSecretName = 1 << 10 // bytes
	MaxSecret     = 1 << 20 // bytes of a value
)

var (
	// ErrSecretName says that a name is none of a secret: SCHEME:NAME, where the scheme is small letters and digits, as in env:DB_PASSWORD.
	ErrSecretName = errors.New("name of a secret is not SCHEME:NAME, as in env:DB_PASSWORD")
	// ErrSecretRefused says that a worker does not give a secret to jobs. The job goes back unspent, for a worker that does.
	ErrSecretRefused = errors.New("secret is not given to jobs here")
)

// SecretSource gives a worker the secrets that jobs ask for: values that only the worker knows. A job names them in Secrets and
// says in its payload where each comes, see SecretText. The worker asks for them when an attempt starts, so the next one gets what is there
// then, and puts them into the payload in its memory alone. What the attempt tells the store has *** in the place of a value: its
// log, progress, failure, result, sync state and messages (lines of less than four bytes are left, and what is made of a value, such as
// its base64, is not known). Jobs that a handler adds are its own affair.
//
// Only signed jobs get any, whatever their type and whatever AllowUnsigned says: the names are signed too, so nobody who can write to the
// store can have a worker read one.
//
// The methods are called from many goroutines at once. handlers.NewSecrets makes a source of variables and files.
type SecretSource interface {
	// Secret returns a value as it is now, UTF-8 of 1 byte to MaxSecret. ErrSecretRefused says that this worker does not give the secret to
	// jobs; any other error fails the attempt, which may be tried again. It ends when ctx does, and its error never holds a value.
	Secret(ctx context.Context, name string) (string, error)
	// Patterns are what the worker tells everybody of the secrets that it gives, as MatchSecret takes them: at most 100, without commas.
	Patterns() []string
}

// MatchSecret tells whether a pattern such as env:DB_* covers the name of a secret. It is one of path.Match: * does not go over a slash.
// A malformed pattern covers nothing.
func MatchSecret(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// checkSecrets checks the names of the secrets that a job asks for.
func checkSecrets(job *wire.Job) error {
	if n := len(job.Secrets); n > MaxSecrets {
		return fmt.Errorf("%d secrets, the limit is %d: %w", n, MaxSecrets, ErrTooLarge)
	}
	for _, name := range job.Secrets {
		if !validSecret(name) {
			return fmt.Errorf("secrets: %w: %.100q", ErrSecretName, name)
		}
	}
	return nil
}

func validSecret(name string) bool {
	scheme, rest, found := strings.Cut(name, ":")
	plain := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }
	return found && scheme != "" && rest != "" && len(name) <= MaxSecretName && utf8.ValidString(rest) &&
		!strings.ContainsFunc(scheme, func(r rune) bool { return !plain(r) }) && !strings.ContainsFunc(rest, unicode.IsControl)
}

// secretNames are the secrets that a job asks for, for messages.
func secretNames(job *wire.Job) string {
	const shown = 5
	names := slices.Clone(job.GetSecrets())
	for i := range names {
		names[i] = shortKey(names[i])
	}
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// checkPatterns checks what a worker is to register of its source.
func checkPatterns(source SecretSource) error {
	if source == nil {
		return nil
	}
	patterns := source.Patterns()
	if n := len(patterns); n > MaxSecrets {
		return fmt.Errorf("field Secrets: %d patterns, the limit is %d", n, MaxSecrets)
	}
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil || p == "" || strings.Contains(p, ",") {
			return fmt.Errorf("field Secrets: %.100q is no pattern: it is empty, malformed or has a comma", p)
		}
	}
	return nil
}

// secretPatterns are what the worker registers of its source.
func (w *Worker) secretPatterns() []string {
	if w.o.Secrets == nil {
		return nil
	}
	return w.o.Secrets.Patterns()
}

// secrets asks the worker's source for what a payload reads, each once.
func (w *Worker) secrets(ctx context.Context, job *wire.Job, list []found) (map[string]string, error) {
	var values map[string]string
	for i := range list {
		name := list[i].Secret
		if name == "" || values[name] != "" {
			continue
		}
		value, err := w.secret(ctx, name)
		switch {
		case errors.Is(err, ErrSecretRefused):
			return nil, fmt.Errorf("%s asks for %s: %w; a worker that is started with -secrets %[2]s may have it", label(job), name, err)
		case err != nil:
			return nil, fmt.Errorf("it asks for the secret %s of worker %s on host %s: %w", name, w.o.ID, w.host, err)
		}
		if values == nil {
			values = map[string]string{}
		}
		values[name] = value
	}
	return values, nil
}

// secret is one value, checked.
func (w *Worker) secret(ctx context.Context, name string) (string, error) {
	if w.o.Secrets == nil {
		return "", ErrSecretRefused
	}
	value, err := w.o.Secrets.Secret(ctx, name)
	switch {
	case err != nil:
		return "", err
	case value == "":
		return "", errors.New("it is empty")
	case len(value) > MaxSecret:
		return "", fmt.Errorf("it is %w: the limit is %d bytes", ErrTooLarge, MaxSecret)
	case !utf8.ValidString(value):
		return "", errors.New("it is no text in UTF-8: let the job read it itself, or store it as base64")
	}
	return value, nil
}
