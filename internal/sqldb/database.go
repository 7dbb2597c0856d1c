package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/conveyor/outbox/pgnotify"
)

// ErrAddress means an address that names no database.
var ErrAddress = errors.New("no address of a database")

// Forms is how addresses are written, for messages.
const Forms = "postgres://user:password@host:5432/database, mysql://user:password@host:3306/database, or sqlite:path"

// Database is an open database.
type Database struct {
	*sql.DB
	Dialect outbox.Dialect
	Name    string // for people; without passwords

	secrets  []string
	postgres *pgx.ConnConfig // nil for others
}

// dialTimeout bounds connecting where an address says nothing of it.
const dialTimeout = 10 * time.Second

// maxIdle are the connections that are kept: a relay has use for a few.
const maxIdle = 2

// Options says what a database is opened for.
type Options struct {
	// Create has SQLite make a file that is missing.
	Create bool
	// Unconnected reads the address and connects to nothing.
	Unconnected bool
}

// Open opens the database of an address and connects to it.
func Open(ctx context.Context, address string, o Options) (*Database, error) {
	d, err := parse(address, o)
	if err != nil {
		return nil, err
	}
	d.SetMaxIdleConns(maxIdle)
	if o.Unconnected {
		return d, nil
	}
	connecting, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if err := d.PingContext(connecting); err != nil {
		_ = d.Close() // the first error says it
		return nil, fmt.Errorf("%s: %w", d.Name, d.Redact(err))
	}
	return d, nil
}

// parse reads an address. It connects to nothing.
func parse(address string, o Options) (*Database, error) {
	scheme, rest, ok := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "postgres", "postgresql":
		return parsePostgres(address)
	case "mysql", "mariadb":
		if ok && strings.HasPrefix(rest, "//") {
			return parseMySQLURL(address)
		}
	case "sqlite", "sqlite3":
		if ok {
			return parseSQLite(strings.TrimPrefix(rest, "//"), o)
		}
	case "file":
		return parseSQLite(rest, o)
	}
	if strings.Contains(address, "@") && strings.Contains(address, "/") && !strings.Contains(address, "://") {
		return parseMySQL(address)
	}
	return nil, fmt.Errorf("%w: write it as %s", ErrAddress, Forms)
}

func parsePostgres(address string) (*Database, error) {
	if strayAt(address) || manyAts(address) {
		return nil, fmt.Errorf("%w: %s", ErrAddress, invalidURL)
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrAddress, withoutAddress(err))
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = dialTimeout
	}
	return &Database{
		DB: stdlib.OpenDB(*config), Dialect: outbox.PostgreSQL, Name: named("postgres", config.User, config.Host, config.Port, 5432, config.Database),
		secrets: append(urlSecrets(address), config.Password), postgres: config,
	}, nil
}

// Wake is what wakes a relay when rows are inserted into the table; nil where the database cannot.
func (d *Database) Wake(t outbox.Table, log *slog.Logger) (outbox.Wake, error) {
	if d.postgres == nil || t.Silent {
		return nil, nil
	}
	l, err := pgnotify.NewConfig(d.postgres, t, pgnotify.Options{Logger: log})
	if err != nil {
		return nil, err
	}
	return l.Wake, nil
}

// Redact is an error without the passwords of the database. It says the same to errors.Is.
func (d *Database) Redact(err error) error { return redact(err, d.secrets) }
