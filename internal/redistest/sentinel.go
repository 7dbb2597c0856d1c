package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/testserver"
)

// SentinelName is the name that Sentinels know their primary by.
const SentinelName = "waybill-test"

// SentinelOptions says what Sentinels watch.
type SentinelOptions struct {
	// Args are given to the primary and the replica, after the defaults and so over them.
	Args []string
}

// Sentinels are three that watch a primary and its replica, on ports of the loopback interface.
type Sentinels struct {
	servers   [2]*Server // the primary at the start, its replica
	sentinels []*Server
}

// StartSentinels runs a primary, a replica and three Sentinels until the end of the test. It returns when the Sentinels know each
// other and the replica, which takes two to three seconds.
func StartSentinels(tb testing.TB, o SentinelOptions) *Sentinels {
	tb.Helper()
	s, err := startSentinels(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.remove)
	return s
}

func startSentinels(o SentinelOptions) (*Sentinels, error) {
	s := &Sentinels{}
	if err := s.start(o); err != nil {
		s.remove()
		return nil, fmt.Errorf("start Sentinels: %w", err)
	}
	return s, nil
}

func (s *Sentinels) start(o SentinelOptions) (err error) {
	args := append([]string{"--repl-diskless-sync-delay", "0"}, o.Args...)
	if s.servers[0], err = startTCP(args); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(s.servers[0].addr)
	if err != nil {
		return err
	}
	if s.servers[1], err = startTCP(append([]string{"--replicaof", host + " " + port}, args...)); err != nil {
		return err
	}
	if err := s.servers[1].await(replicates); err != nil {
		return err
	}
	for range 3 {
		sentinel, err := startSentinel(host, port)
		if err != nil {
			return err
		}
		s.sentinels = append(s.sentinels, sentinel)
	}
	for _, sentinel := range s.sentinels {
		if err := sentinel.await(acquainted); err != nil {
			return err
		}
	}
	return nil
}

// sentinelConf is a Sentinel's configuration, with capitals for what differs. A minute is more than a loaded machine makes a server wait.
const sentinelConf = `port OWN
bind 127.0.0.1
dir DIR
loglevel warning
sentinel monitor NAME HOST PORT 2
sentinel down-after-milliseconds NAME 60000
`

// startSentinel picks a free port and tries again with another when somebody takes it before the Sentinel does.
func startSentinel(host, port string) (*Server, error) {
	var last error
	for range 5 {
		own, err := freePort()
		if err != nil {
			return nil, err
		}
		dir, err := testserver.TempDir("wbr")
		if err != nil {
			return nil, err
		}
		file := filepath.Join(dir, "sentinel.conf") // which the Sentinel keeps its state in
		conf := strings.NewReplacer("NAME", SentinelName, "OWN", own, "DIR", dir, "HOST", host, "PORT", port).Replace(sentinelConf)
		s := &Server{dir: dir, network: "tcp", addr: net.JoinHostPort("127.0.0.1", own), args: []string{file, "--sentinel"}}
		if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
			s.remove()
			return nil, err
		}
		if last = s.start(); last == nil {
			return s, nil
		}
		s.remove()
		if !strings.Contains(last.Error(), "in use") {
			break
		}
	}
	return nil, last
}

// acquainted wants a Sentinel to know the two others and the replica.
func acquainted(ctx context.Context, rdb *redis.Client) error {
	facts, err := rdb.Do(ctx, "SENTINEL", "MASTER", SentinelName).Result()
	if err != nil {
		return err
	}
	if text := fmt.Sprint(facts); !strings.Contains(text, "num-slaves:1 ") || !strings.Contains(text, "num-other-sentinels:2 ") {
		return errors.New("it does not know the others yet")
	}
	return rdb.Do(ctx, "SENTINEL", "CKQUORUM", SentinelName).Err()
}

func (s *Sentinels) remove() {
	for _, server := range append(s.sentinels, s.servers[:]...) {
		if server != nil {
			server.remove()
		}
	}
}

// Suspect has the Sentinels take a primary for dead that has not answered for so long, which is a minute until then. A replica that has
// been without its primary for longer than ten times that is not promoted.
func (s *Sentinels) Suspect(tb testing.TB, after time.Duration) {
	tb.Helper()
	for _, sentinel := range s.sentinels {
		err := sentinel.Client(tb).Do(tb.Context(), "SENTINEL", "SET", SentinelName,
			"down-after-milliseconds", after.Milliseconds(), "failover-timeout", max(4*after, 5*time.Second).Milliseconds()).Err()
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// Primary is the server that was the primary at the start, Replica the other one.
func (s *Sentinels) Primary() *Server { return s.servers[0] }

// Replica is the server that was the replica at the start.
func (s *Sentinels) Replica() *Server { return s.servers[1] }

// Options are fresh client options for the primary that the Sentinels name, free for the caller to change.
func (s *Sentinels) Options() *redis.FailoverOptions {
	o := &redis.FailoverOptions{MasterName: SentinelName}
	for _, sentinel := range s.sentinels {
		o.SentinelAddrs = append(o.SentinelAddrs, sentinel.addr)
	}
	return o
}

// URL is the address of the Sentinels in the form that redis.ParseFailoverURL reads.
func (s *Sentinels) URL() string {
	query := url.Values{"master_name": {SentinelName}}
	for _, sentinel := range s.sentinels[1:] {
		query.Add("addr", sentinel.addr)
	}
	return "redis://" + s.sentinels[0].addr + "/0?" + query.Encode()
}

// Client is a new client with the default options, closed at the end of the test.
func (s *Sentinels) Client(tb testing.TB) *redis.Client {
	tb.Helper()
	rdb := redis.NewFailoverClient(s.Options())
	tb.Cleanup(func() { _ = rdb.Close() }) // a test may have closed it already
	return rdb
}
