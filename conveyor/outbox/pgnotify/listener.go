package pgnotify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/waybill-dev/waybill/conveyor/outbox"
)

// Options configures a Listener. The zero value works.
type Options struct {
	// Logger is told when the connection is lost and when it is there again. The default discards.
	Logger *slog.Logger
}

// Listener wakes a relay when rows are inserted into its table, in whatever language. It is safe for concurrent use; each call of
// Wake has a connection of its own.
type Listener struct {
	config *pgx.ConnConfig
	listen string // the statement
	log    *slog.Logger
}

// New returns a Listener for a table in the database that a URL or a list of keywords and values names. It does not connect yet.
func New(dsn string, t outbox.Table, o Options) (*Listener, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("pgnotify: the address cannot be read: %s", reason(err))
	}
	return NewConfig(config, t, o)
}

// reason is why pgx cannot read an address, without the address: where a password breaks its form, pgx cannot tell all of the password
// from what surrounds it.
func reason(err error) string {
	text := err.Error()
	if end := strings.LastIndex(text, "`: "); end >= 0 {
		text = text[end+len("`: "):]
	}
	return text
}

// NewConfig is New with a configuration that pgx.ParseConfig made.
func NewConfig(config *pgx.ConnConfig, t outbox.Table, o Options) (*Listener, error) {
	if config == nil {
		return nil, errors.New("pgnotify: the configuration is nil")
	}
	if t.Dialect != outbox.PostgreSQL {
		return nil, fmt.Errorf("pgnotify: the table is one of %s, and only PostgreSQL notifies", t.Dialect)
	}
	if _, err := t.Schema(); err != nil {
		return nil, fmt.Errorf("pgnotify: %w", err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	config = config.Copy()
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	return &Listener{config: config, listen: "LISTEN " + pgx.Identifier{t.Channel()}.Sanitize(), log: o.Logger}, nil
}

// How a connection is looked after. A peer that is gone without a word is noticed by the ping.
const (
	connectTimeout = 10 * time.Second
	pingEvery      = 30 * time.Second
	pingTimeout    = 10 * time.Second
	leastPause     = 100 * time.Millisecond
	mostPause      = 30 * time.Second
)

var _ outbox.Wake = (*Listener)(nil).Wake

// Wake calls woken when rows were inserted, and whenever it has connected, since nobody told it what came before. A connection
// that breaks is made again, for as long as it takes. It returns when ctx ends.
func (l *Listener) Wake(ctx context.Context, woken func()) error {
	pause, failed := leastPause, false
	for {
		err := l.hear(ctx, func() {
			if failed {
				l.log.Info("listening for new rows again")
			}
			pause, failed = leastPause, false
			woken()
		}, woken)
		if ctx.Err() != nil {
			return nil
		}
		rest := pause - rand.N(pause/2)
		if !failed {
			l.log.Warn("cannot listen for new rows: they come at the interval", "error", err, "again_in", rest)
		}
		pause, failed = min(2*pause, mostPause), true
		t := time.NewTimer(rest)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

// hear listens on one connection until it breaks or ctx ends.
func (l *Listener) hear(ctx context.Context, connected, woken func()) error {
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing) // why it is closed says more
	}()
	if err := l.say(ctx, conn); err != nil {
		return err
	}
	connected()
	for {
		waiting, cancel := context.WithTimeout(ctx, pingEvery)
		_, err := conn.WaitForNotification(waiting)
		quiet := waiting.Err() != nil
		cancel()
		switch {
		case err == nil:
			woken()
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case quiet && !conn.IsClosed():
			pinging, cancel := context.WithTimeout(ctx, pingTimeout)
			err := conn.Ping(pinging)
			cancel()
			if err != nil {
				return err
			}
		default:
			return err
		}
	}
}

func (l *Listener) say(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	_, err := conn.Exec(ctx, l.listen)
	return err
}
