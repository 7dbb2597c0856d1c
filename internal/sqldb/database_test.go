package sqldb

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

func TestMain(m *testing.M) { sqltest.Main(m) }

// TestOpen opens what tests open through drivers, and uses it.
func TestOpen(t *testing.T) {
	t.Parallel()
	sqltest.Each(t, func(t *testing.T, db *sqltest.Database) {
		d, err := Open(t.Context(), db.DSN, Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = d.Close() }()
		table := outbox.Table{Dialect: d.Dialect}
		if err := table.Migrate(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		wake, err := d.Wake(table, nil)
		if err != nil || (wake != nil) != (d.Dialect == outbox.PostgreSQL) {
			t.Errorf("wake %v, %v", wake != nil, err)
		}
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a b#c.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		address, name string
		dialect       outbox.Dialect
		err           string
	}{
		{address: "postgres://shop:secret@db/orders", name: "postgres://shop@db/orders", dialect: outbox.PostgreSQL},
		{address: "postgresql://shop:s%40cret@db:5433/orders?sslmode=disable&application_name=x", name: "postgres://shop@db:5433/orders", dialect: outbox.PostgreSQL},
		{address: "postgres:///orders?host=/run/pg&user=shop&password=secret", name: "postgres://shop@/orders on /run/pg", dialect: outbox.PostgreSQL},
		{address: "mysql://shop:secret@db/orders", name: "mysql://shop@db/orders", dialect: outbox.MySQL},
		{address: "mariadb://shop:s%40cret@[::1]:3307/orders?tls=skip-verify", name: "mysql://shop@[::1]:3307/orders", dialect: outbox.MySQL},
		{address: "shop:secret@tcp(db:3307)/orders", name: "mysql://shop@db:3307/orders", dialect: outbox.MySQL},
		{address: "shop:sec@ret@unix(/run/mysql.sock)/orders", name: "mysql://shop@/orders on /run/mysql.sock", dialect: outbox.MySQL},
		{address: "sqlite:" + file, name: "SQLite in " + file, dialect: outbox.SQLite},
		{address: "sqlite://" + file, name: "SQLite in " + file, dialect: outbox.SQLite},
		{address: "file://" + filepath.ToSlash(dir) + "/a%20b%23c.db?_key=secret", name: "SQLite in " + file, dialect: outbox.SQLite},

		{address: "", err: "no address of a database: write it as " + Forms},
		{address: "oracle://shop:secret@db/orders", err: "no address of a database: write it as " + Forms},
		{address: "postgres://shop:secret@db:port/orders", err: "no address of a database: invalid port"},
		{address: "postgres://shop:%c@secret@db/orders", err: "no address of a database: it is no valid URL"},
		{address: "postgres://shop:my@secret@db/orders", err: "no address of a database: it is no valid URL"},
		{address: "postgres://shop:12/secret@db/orders", err: "no address of a database: it is no valid URL"},
		{address: "mysql://shop:12/secret@db/orders", err: "no address of a database: it is no valid URL"},
		{address: "mysql://shop:sec%ret@db/orders", err: "no address of a database: it is no valid URL; characters of a password that mean something in URLs are written as %XX"},
		{address: "mysql://shop:secret@db", err: "no address of a database: it does not say which database of the server is meant, as in mysql://user:password@host/shop"},
		{address: "shop:secret@db/orders", err: "no address of a database: it is neither a URL nor of the form user:password@tcp(host:port)/database"},
		{address: "sqlite:", err: "no address of a database: it names no file, as sqlite:shop.db does"},
		{address: "sqlite::memory:", err: "no address of a database: a database in memory is seen by one process alone: name a file"},
		{address: "sqlite:" + dir, err: "no address of a database: " + dir + " is a directory: name a file"},
	} {
		t.Run(tt.address, func(t *testing.T) {
			t.Parallel()
			d, err := parse(tt.address, Options{})
			if tt.err != "" {
				if !errors.Is(err, ErrAddress) || !strings.HasPrefix(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
					t.Fatalf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = d.Close() }()
			if diff := cmp.Diff([]string{tt.name, tt.dialect.String()}, []string{d.Name, d.Dialect.String()}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if d.Dialect == outbox.SQLite {
				if err := d.PingContext(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestOpenAway names neither password in what is said of servers that are not there, or not who they should be.
func TestOpenAway(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("hello, secret?\r\n"))
			_ = c.Close()
		}
	}()
	defer func() { _ = listener.Close() }()
	for _, scheme := range []string{"postgres", "mysql"} {
		for _, host := range []string{"127.0.0.1:1", listener.Addr().String()} {
			_, err := Open(t.Context(), scheme+"://me:secret@"+host+"/x", Options{})
			if err == nil || strings.Contains(err.Error(), "secret") || !strings.HasPrefix(err.Error(), scheme+"://me@"+host+"/x: ") {
				t.Errorf("%s on %s: %v", scheme, host, err)
			}
		}
	}
	missing := filepath.Join(t.TempDir(), "none.db")
	if _, err := Open(t.Context(), "sqlite:"+missing, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a database was made")
	}
	d, err := Open(t.Context(), "sqlite:"+missing, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	_ = d.Close()
	if _, err := os.Stat(missing); err != nil {
		t.Error(err)
	}
}
