package sqldb

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// redacted is an error whose text had a password in it.
type redacted struct {
	text string
	err  error
}

func (r *redacted) Error() string { return r.text }
func (r *redacted) Unwrap() error { return r.err }

// redact takes secrets out of an error's text. No driver is known to put them there.
func redact(err error, secrets []string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "...")
		}
	}
	if text == err.Error() {
		return err
	}
	return &redacted{text, err}
}

// invalidURL is said of URLs that are none, most of them because of a password. It shows nothing of them.
const invalidURL = "it is no valid URL; characters of a password that mean something in URLs are written as %XX, as %40 for @"

// strayAt tells whether an @ stands in a URL's path: a password with a / in it as it is ends there, and the rest of it is taken for
// a database, which messages name.
func strayAt(address string) bool {
	_, path, _ := strings.Cut(beforeQuery(address), "/")
	return strings.Contains(path, "@")
}

// manyAts tells whether more than one @ stands before a URL's path: pgx ends the password at the first, and takes the rest of it for
// the host.
func manyAts(address string) bool {
	authority, _, _ := strings.Cut(beforeQuery(address), "/")
	return strings.Count(authority, "@") > 1
}

// beforeQuery is a URL without its scheme and query.
func beforeQuery(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	rest, _, _ = strings.Cut(rest, "?")
	return rest
}

// withoutAddress is why pgx cannot read an address. It shows the address too, and where a password breaks its form it does not know all
// of the password.
func withoutAddress(err error) string {
	text := err.Error()
	if end := strings.LastIndex(text, "`: "); end >= 0 {
		text = text[end+len("`: "):]
	}
	return text
}

// urlSecrets are the passwords of a URL, as it has them and decoded, also where it is no good URL otherwise.
func urlSecrets(address string) []string {
	var secrets []string
	add := func(s string) {
		secrets = append(secrets, s)
		if plain, err := url.QueryUnescape(s); err == nil && plain != s {
			secrets = append(secrets, plain)
		}
	}
	_, rest, _ := strings.Cut(address, "://")
	rest, query, _ := strings.Cut(rest, "?")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		if _, password, ok := strings.Cut(rest[:at], ":"); ok {
			add(password)
		}
	}
	for part := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(part, "="); strings.Contains(name, "password") || strings.HasPrefix(name, "_key") {
			add(value)
		}
	}
	return secrets
}

// named is a database for people.
func named(scheme, user, host string, port, standard uint16, database string) string {
	if user != "" {
		user = url.User(user).String() + "@"
	}
	if strings.HasPrefix(host, "/") { // the directory of a socket
		return scheme + "://" + user + "/" + database + " on " + host
	}
	if port != 0 && port != standard {
		host = net.JoinHostPort(host, strconv.Itoa(int(port)))
	}
	return scheme + "://" + user + host + "/" + database
}
