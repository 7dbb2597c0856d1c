package sqldb

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver of SQLite

	"github.com/waybill-dev/waybill/conveyor/outbox"
)

// parseSQLite reads path?parameters; the parameters are the driver's. Those that say nothing else wait for ten seconds when
// another process writes, and take the right to write before they read what they are going to change.
func parseSQLite(rest string, o Options) (*Database, error) {
	path, raw, _ := strings.Cut(rest, "?")
	if strings.HasPrefix(path, "///") { // of file:///path
		path = path[2:]
	}
	if p, err := url.PathUnescape(path); err == nil {
		path = p
	}
	query, err := url.ParseQuery(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: its parameters cannot be read", ErrAddress)
	case path == "":
		return nil, fmt.Errorf("%w: it names no file, as sqlite:shop.db does", ErrAddress)
	case strings.Contains(path, ":memory:") || query.Get("mode") == "memory":
		return nil, fmt.Errorf("%w: a database in memory is seen by one process alone: name a file", ErrAddress)
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist) && !o.Create && !o.Unconnected:
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%w: %s is a directory: name a file", ErrAddress, path)
	}
	if !query.Has("mode") {
		query.Set("mode", "rw")
		if o.Create {
			query.Set("mode", "rwc")
		}
	}
	if !strings.Contains(raw, "busy_timeout") {
		query.Add("_pragma", "busy_timeout(10000)")
	}
	if !query.Has("_txlock") {
		query.Set("_txlock", "immediate")
	}
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	return &Database{DB: db, Dialect: outbox.SQLite, Name: "SQLite in " + path, secrets: urlSecrets("x://?" + raw)}, nil
}
