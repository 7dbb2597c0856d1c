package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/embedded"
	"github.com/waybill-dev/waybill/tui/screen"
)

// redisFlag is the -redis option.
type redisFlag struct {
	url         string
	connections int // that a pool holds at least, unless the URL tells its size; 0: as many as go-redis thinks right
}

func (r *redisFlag) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.url, "redis", "", "Use the Redis at `URL`, as in redis://user:password@host:6379/0. Without it: WAYBILL_REDIS, "+
		"then the workflow's redis block, then the embedded store.")
}

// redisNamed tells whether -redis or WAYBILL_REDIS names a Redis.
func (a *app) redisNamed(r redisFlag) bool { return r.url != "" || a.getenv("WAYBILL_REDIS") != "" }

// store is where a workflow's state and jobs are.
type store struct {
	client   *conveyor.Client
	name     string // for people; without passwords
	embedded bool
	kind     redisKind     // of a Redis
	dir      string        // the workflow's, as given
	workflow string        // its name, with the workspace as in orders@staging
	queue    string        // its default
	options  string        // that name its workspace on another command line, with a space before; "" for none
	skew     time.Duration // of the store's clock against this process's
	close    func() error
	pauses   *pauses
}

// access is what a command does with a store.
type access uint8

const (
	reading   access = iota // sees what there is; the embedded store is not served and nothing on disk changes
	serving                 // may write; the embedded store is joined, or served by this process
	repairing               // as serving, also on a Redis that is not fit to keep jobs
)

// open opens the store of a workflow: the one that is named first by -redis, WAYBILL_REDIS and the redis block, else the
// embedded one of the workflow's directory.
func (a *app) open(ctx context.Context, r redisFlag, w *config.Workflow, how access) (*store, error) {
	s, rdb, err := a.connect(ctx, r, w, how)
	if err != nil {
		return nil, err
	}
	s.client, err = conveyor.NewClient(rdb, conveyor.Options{Namespace: w.Namespace, Observer: a.observer})
	if err != nil {
		return nil, joinClose(err, s)
	}
	if how == serving && !s.embedded {
		if err := s.client.CheckStore(ctx); err != nil {
			return nil, joinClose(s.unfit(err), s)
		}
	}
	now, err := s.client.Now(ctx)
	if err != nil {
		return nil, joinClose(s.unreachable(err), s)
	}
	s.skew = time.Until(now)
	return s, nil
}

// connect opens the store of a workflow as open does, for whoever makes clients of it.
func (a *app) connect(ctx context.Context, r redisFlag, w *config.Workflow, how access) (*store, redis.UniversalClient, error) {
	url := r.url
	if url == "" {
		url = a.getenv("WAYBILL_REDIS")
	}
	if url == "" {
		url = w.Redis
	}
	hush()
	s := &store{dir: w.Dir, workflow: w.Name, queue: w.DefaultQueue, pauses: a.pauses}
	if name, _ := a.namedWorkspace(); name != "" && w.Workspace != "" {
		s.options = " -workspace=" + name
	}
	if s.dir == "" {
		s.dir = "."
	}
	var err error
	var rdb redis.UniversalClient
	if url == "" {
		s.embedded = true
		rdb, err = s.openEmbedded(ctx, how)
	} else {
		if !w.Named && w.Dir != "" {
			return nil, nil, fail("Workflow has no name", "Many workflows share one Redis, so each needs a name of its own there. Add a block to its files:\n\n"+
				"  workflow %q {}", filepath.Base(absolute(w.Dir)))
		}
		s.name = redacted(url)
		a.rights = a.rightsFor(how, s, url, w.Namespace)
		rdb, err = s.openRedis(ctx, url, r.connections)
	}
	if err != nil {
		return nil, nil, err
	}
	return s, rdb, nil
}

func joinClose(err error, s *store) error {
	s.close() //nolint:errcheck // the first error says it
	return err
}

// openTimeout bounds waiting for a process that holds the embedded store and does not answer.
const openTimeout = 10 * time.Second

// openEmbedded opens the embedded store of the workflow's directory.
func (s *store) openEmbedded(ctx context.Context, how access) (redis.UniversalClient, error) {
	dir := filepath.Join(s.dir, ".waybill")
	s.name = "embedded store in " + dir
	open := embedded.Open
	if how == reading {
		open = embedded.ReadOnly
	}
	opening, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	st, err := open(opening, dir, embedded.Options{})
	if err == nil && how != reading {
		if err = ignoreStore(dir); err != nil {
			st.Close() //nolint:errcheck // the first error says it
		}
	}
	if err != nil {
		return nil, fail("Cannot open the embedded store", "%s. Without a Redis it is kept beside the workflow's files, so this directory has to be writable; "+
			"-redis=URL uses a Redis instead.", capital(err.Error()))
	}
	s.close = st.Close
	if how != reading {
		resumed := s.pauses.with(func() func() {
			st.Suspend()
			return st.Resume
		})
		s.close = sync.OnceValue(func() error {
			resumed()
			return st.Close()
		})
	}
	return st.Client(), nil
}

// now is the store's clock.
func (s *store) now() time.Time { return time.Now().Add(s.skew) }

// opened is the event that names the store.
func (s *store) opened() applier.Opened {
	return applier.Opened{Store: s.name, Embedded: s.embedded, Workflow: s.workflow}
}

// line is the first line of a command's output.
func (s *store) line() string {
	return fmt.Sprintf("Workflow %q, %s.", s.workflow, s.name)
}

// elsewhere is how to name this workflow on another command line.
func (s *store) elsewhere() string {
	if s.dir == "." {
		return s.options
	}
	return s.options + " " + shellWord(s.dir)
}

// shellWord is a word as a POSIX shell has to be given it.
func shellWord(word string) string {
	if word != "" && strings.Trim(word, shellPlain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(screen.Clean(word), "'", `'\''`) + "'"
}

// shellPlain are characters that no shell takes for anything else.
const shellPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./@%+=:,"

func absolute(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	return abs
}
