package handlers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/conveyor"
)

// The schemes of the secrets that Secrets gives.
const (
	schemeEnv  = "env:"
	schemeFile = "file:"
)

// maxPatterns bounds what a worker tells everybody with each beat.
const maxPatterns = 100

// Secrets gives jobs the variables of the worker's environment and the files of its machine that patterns cover, and nothing else. It is a
// conveyor.SecretSource. The zero value gives none.
//
// A file is covered when its name is and, where that is or goes over a symbolic link, when the place that it leads to is too: a link
// in a directory of secrets does not open what is outside of it. One line break at the end of a file is dropped. Variables whose names
// begin with WAYBILL_ are never given, since the keys of the worker are among them.
type Secrets struct {
	patterns []string
	lookUp   func(name string) (string, bool)
}

// NewSecrets takes at most 100 patterns, such as env:DB_* and file:/run/secrets/*. A * stands for any characters but a slash, see path.Match.
// The error names every pattern that is none.
func NewSecrets(patterns ...string) (*Secrets, error) {
	var problems []error
	if len(patterns) > maxPatterns {
		problems = append(problems, fmt.Errorf("there are %d patterns, the limit is %d", len(patterns), maxPatterns))
	}
	for _, p := range patterns {
		if err := checkPattern(p); err != nil {
			problems = append(problems, fmt.Errorf("%q is no pattern of secrets: %w", p, err))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return &Secrets{patterns: slices.Clone(patterns), lookUp: os.LookupEnv}, nil
}

func checkPattern(p string) error {
	file, isFile := strings.CutPrefix(p, schemeFile)
	variable, isEnv := strings.CutPrefix(p, schemeEnv)
	_, err := path.Match(p, "")
	switch {
	case !isFile && !isEnv, isEnv && variable == "":
		return errors.New("write env:NAME or file:/PATH, in which * stands for any characters but a slash")
	case isFile && (!path.IsAbs(file) || path.Clean(file) != file):
		return errors.New("the path of a file begins with a slash, and has no . or .. and no slash too many")
	case err != nil:
		return errors.New("a [ has no ], or a \\ nothing behind it")
	case strings.Contains(p, ","):
		return errors.New("it has a comma, which separates patterns: write a ? for it")
	}
	return nil
}

// Patterns are those of NewSecrets.
func (s *Secrets) Patterns() []string { return slices.Clone(s.patterns) }

// Secret reads a variable or a file.
func (s *Secrets) Secret(_ context.Context, name string) (string, error) {
	variable, isEnv := strings.CutPrefix(name, schemeEnv)
	file, isFile := strings.CutPrefix(name, schemeFile)
	switch {
	case !s.covers(name), isEnv && strings.HasPrefix(variable, "WAYBILL_"):
		return "", conveyor.ErrSecretRefused
	case isEnv:
		value, ok := s.lookUp(variable)
		if !ok {
			return "", fmt.Errorf("the variable %s is not set: set it in the environment that the worker is started in", variable)
		}
		return value, nil
	case isFile && path.IsAbs(file) && path.Clean(file) == file:
		return s.file(file)
	}
	return "", conveyor.ErrSecretRefused
}

func (s *Secrets) covers(name string) bool {
	return slices.ContainsFunc(s.patterns, func(p string) bool { return conveyor.MatchSecret(p, name) })
}

// file reads a file whose name is covered.
func (s *Secrets) file(name string) (string, error) {
	at, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the file does not exist: put it there, or mount it%w", silent{err})
	}
	if err != nil {
		return "", fmt.Errorf("the file cannot be read: %w", reason(err))
	}
	if at = filepath.ToSlash(at); at != name && !s.covers(schemeFile+at) {
		return "", fmt.Errorf("%w: it leads to %s, which no pattern of this worker covers", conveyor.ErrSecretRefused, at)
	}
	if info, err := os.Stat(at); err == nil && !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	f, err := os.Open(at)
	if err != nil {
		return "", fmt.Errorf("the file cannot be read: %w; give the user that the worker runs as the right to", reason(err))
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, conveyor.MaxSecret+int64(len("\r\n"))+1)) // the worker refuses what is too large
	if err != nil {
		return "", fmt.Errorf("the file cannot be read: %w", reason(err))
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}
