package sqltest

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/internal/testserver"
)

// startTimeout bounds the wait for the first connection. It is generous because a loaded machine may take seconds over it;
// an exited server is noticed at once and does not use it up.
const startTimeout = 60 * time.Second

// Server is one database server with a directory of its own. Directory and address stay the same over Kill and Restart, and
// so do its databases.
type Server struct {
	System System

	dir   string
	path  string   // of the program
	args  []string // of the program
	owner *owner
	end   syscall.Signal // that ends it as a crash would
	admin *sql.DB        // in no database of a test

	mu   sync.Mutex
	proc *testserver.Process // nil while no server runs
}

// Start runs a server of PostgreSQL or MariaDB until the end of the test.
func Start(tb testing.TB, s System) *Server {
	tb.Helper()
	server, err := start(s)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(server.remove)
	return server
}

func start(system System) (*Server, error) {
	o, err := serverOwner()
	if err != nil {
		return nil, err
	}
	dir, err := tempDir(o)
	if err != nil {
		return nil, err
	}
	s := &Server{System: system, dir: dir, owner: o}
	if err := s.found(); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	if s.admin, err = sql.Open(system.Driver(), s.DSN(map[System]string{PostgreSQL: "postgres"}[system])); err == nil {
		err = s.start()
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// found makes the directory of an empty server and decides how it is run.
func (s *Server) found() error {
	data := filepath.Join(s.dir, "data")
	switch s.System {
	case PostgreSQL:
		initdb, postgres, err := findPostgres()
		if err != nil {
			return err
		}
		s.path, s.end = postgres, syscall.SIGQUIT // which its children learn of; SIGKILL would leave them behind
		s.args = []string{"-D", data, "-k", s.dir, "-p", "5432", "-h", "", "-c", "timezone=<+0530>-05:30", "-c", "max_connections=200",
			"-c", "fsync=off", "-c", "full_page_writes=off"}
		return s.owner.run(initdb, "-D", data, "-U", "waybill", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	case MariaDB:
		mariadbd, err := findMariaDB()
		if err != nil {
			return err
		}
		s.path, s.end = mariadbd, syscall.SIGKILL
		// Without the tables of grants it needs no installation: an empty directory will do, which the program fills in a run
		// of its own, since files that it has only just made do not outlive a kill.
		s.args = []string{"--no-defaults", "--skip-grant-tables", "--datadir=" + data, "--tmpdir=" + s.dir, "--socket=" + filepath.Join(s.dir, "s"),
			"--pid-file=" + filepath.Join(s.dir, "pid"), "--skip-networking", "--default-time-zone=+05:30", "--max-connections=200",
			"--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync", "--innodb-stats-persistent=0"}
		if err := s.mkdir(data); err != nil {
			return err
		}
		return s.owner.run(mariadbd, append(slices.Clone(s.args), "--bootstrap")...)
	default:
		return fmt.Errorf("there is no server of %s", s.System)
	}
}

func (s *Server) mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	if s.owner == nil {
		return nil
	}
	return os.Chown(path, int(s.owner.uid), int(s.owner.gid))
}

// DSN is what the driver opens the named database by.
func (s *Server) DSN(database string) string {
	if s.System == MariaDB {
		return fmt.Sprintf("root@unix(%s)/%s", filepath.Join(s.dir, "s"), database)
	}
	return fmt.Sprintf("postgres://waybill@/%s?host=%s&port=5432&sslmode=disable", database, s.dir)
}

// Database is a fresh, empty database of the server. The test's connections to it end with the test.
func (s *Server) Database(tb testing.TB) *Database {
	tb.Helper()
	name := "t" + strings.ToLower(rand.Text())
	if _, err := s.admin.ExecContext(tb.Context(), "CREATE DATABASE "+name); err != nil {
		tb.Fatal(err)
	}
	return opened(tb, s, s.System, s.DSN(name))
}

// Kill ends the server as a crash would and waits until it is gone. Killing a dead server is no error.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.End(s.end)
		s.proc = nil
	}
}

// Restart kills the server, if it runs, and starts it again where it was.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.Kill()
	if err := s.start(); err != nil {
		tb.Fatal(err)
	}
}

func (s *Server) remove() {
	if s.admin != nil {
		_ = s.admin.Close()
	}
	s.Kill()
	_ = os.RemoveAll(s.dir)
}

// start runs the process and returns when it can be asked.
func (s *Server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := testserver.Run(s.owner.command(s.path, s.args...), s.end)
	if err != nil {
		return err
	}
	if err := p.Await(startTimeout, s.admin.PingContext); err != nil {
		p.End(s.end)
		return fmt.Errorf("start %s in %s: %w", s.System, s.dir, err)
	}
	s.proc = p
	return nil
}
