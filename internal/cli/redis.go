package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

const (
	dialTimeout = 5 * time.Second
	minRedis    = 7 // the oldest major version with what the scripts need
)

// silence is what the Redis client may say for itself: its errors come back to whoever called, and are said here.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// hush silences the client, of the embedded store as well.
var hush = sync.OnceFunc(func() { redis.SetLogger(silence{}) })

// openRedis connects to a Redis and asks it who it is, so that the first problem has a name.
func (s *store) openRedis(ctx context.Context, address string, connections int) (redis.UniversalClient, error) {
	if !strings.Contains(address, "://") {
		address = "redis://" + address
	}
	s.name = redacted(address)
	where, err := readAddress(address)
	var rdb redis.UniversalClient
	if err == nil {
		s.name, s.kind = s.name+where.about(), where.kind
		where.connections = connections
		rdb, err = where.connect()
	}
	if err != nil {
		return nil, fail("Invalid Redis URL", "%q: %v. Write it as redis://user:password@host:6379/0, rediss:// for TLS, or unix:///path for a socket; "+
			"with ?cluster=true it is that of a Cluster, with ?master_name=NAME of Sentinels.",
			s.name, withoutSecret(err, address))
	}
	s.close = sync.OnceValue(rdb.Close)
	info, err := rdb.Info(ctx, "server").Result()
	if err != nil && !refused(err, "NOPERM") {
		return nil, joinClose(s.unreachable(err), s)
	}
	if major := redisMajor(info); major > 0 && major < minRedis {
		return nil, joinClose(fail("Redis is too old", "%s is version %d; Waybill needs Redis %d or newer, or Valkey.", s.name, major, minRedis), s)
	}
	return rdb, nil
}

// redisMajor is the first number of the version in the answer to INFO; 0 where it is not told.
func redisMajor(info string) int {
	for line := range strings.Lines(info) {
		if version, ok := strings.CutPrefix(line, "redis_version:"); ok {
			major, _, _ := strings.Cut(version, ".")
			n, _ := strconv.Atoi(major)
			return n
		}
	}
	return 0
}

// unfit says why a Redis that answers must not be used.
func (s *store) unfit(err error) error {
	if !errors.Is(err, conveyor.ErrStore) {
		return s.unreachable(err)
	}
	why := strings.TrimPrefix(err.Error(), conveyor.ErrStore.Error()+": ")
	return &failure{summary: "Redis cannot keep jobs safely", detail: fmt.Sprintf("%s cannot be used: %s.", s.name, why), cause: err}
}

// unreachable says why a store did not answer, and what to do.
func (s *store) unreachable(err error) error {
	var network *net.OpError
	var untrusted *tls.CertificateVerificationError
	f := &failure{cause: err}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case refused(err, "WRONGPASS"), refused(err, "invalid username-password"):
		f.summary, f.detail = "Redis refused the password", fmt.Sprintf("%s does not accept the user name and password of its URL. "+
			"Write them as redis://user:password@host:6379; a password alone as redis://:password@host:6379.", s.name)
	case refused(err, "NOAUTH"):
		f.summary, f.detail = "Redis needs a password", fmt.Sprintf("%s answers only to clients that give a password, and its URL has none. "+
			"Write it as redis://:password@host:6379.", s.name)
	case refused(err, "NOPERM"):
		return err // rights.explain tells which right is missing
	case refused(err, "CLUSTERDOWN"):
		f.summary, f.detail = "The Cluster is down", fmt.Sprintf("Some slots of %s are served by no node, so that none answers: %v. "+
			"CLUSTER INFO and CLUSTER NODES tell which.", s.name, err)
	case errors.As(err, &untrusted):
		f.summary, f.detail = "Cannot trust Redis", fmt.Sprintf("The certificate of %s is not to be trusted: %v. "+
			"In its URL tls_ca=FILE names the certificates to trust, and tls_server_name=NAME the name that its own is for.", s.name, untrusted.Err)
	case refused(err, "certificate required"), refused(err, "bad certificate"):
		f.summary, f.detail = "Redis wants a certificate", fmt.Sprintf("%s does not accept this client: %v. "+
			"Name the files of one with tls_cert=FILE and tls_key=FILE in its URL.", s.name, err)
	case strings.HasPrefix(s.name, "rediss://") && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)):
		f.summary, f.detail = "Redis closed the connection", fmt.Sprintf("%s hangs up on this client after they agreed on TLS: %v. A server that wants a certificate "+
			"of its clients does so: name the files of one with tls_cert=FILE and tls_key=FILE in its URL.", s.name, err)
	case refused(err, "LOADING"):
		f.summary, f.detail = "Redis is not ready", fmt.Sprintf("%s is loading its data. Try again in a moment.", s.name)
	case errors.As(err, &network), errors.Is(err, conveyor.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		f.summary, f.detail = "Cannot reach Redis", fmt.Sprintf("%s does not answer: %v. Start it, or correct -redis, WAYBILL_REDIS or the redis block; "+
			"without any of them the embedded store is used.", s.name, err)
	default:
		f.summary, f.detail = "Cannot use the store", fmt.Sprintf("%s: %v.", s.name, err)
	}
	return f
}

func refused(err error, code string) bool { return strings.Contains(err.Error(), code) }

// redacted is a URL as it may be shown.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the Redis URL"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
		if u.User.Username() == "" {
			u.User = nil
		}
	}
	u.RawQuery = ""
	return u.String()
}

// withoutSecret is an error about a URL without the URL's password.
func withoutSecret(err error, address string) error {
	if u, parseErr := url.Parse(address); parseErr == nil && u.User != nil {
		if password, ok := u.User.Password(); ok && password != "" {
			return errors.New(strings.ReplaceAll(err.Error(), password, "..."))
		}
		return err
	}
	var bad *url.Error
	if errors.As(err, &bad) {
		return bad.Err // names no part of the URL
	}
	return err
}
