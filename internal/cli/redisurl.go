package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// What a Redis URL may say beside what go-redis reads in it.
const (
	paramCluster = "cluster"         // true: a Cluster, of which the URL names some nodes
	paramCA      = "tls_ca"          // file with the certificates that the server's is to be signed by; default: those of the system
	paramCert    = "tls_cert"        // file with the client's certificate, for servers that want one
	paramKey     = "tls_key"         // file with its key
	paramServer  = "tls_server_name" // the name that the server's certificate is for; default: the host
)

// redisKind is what stands behind a Redis URL.
type redisKind uint8

const (
	oneServer redisKind = iota
	bySentinels
	cluster
)

// redisAddress is a Redis URL, read.
type redisAddress struct {
	url         string // what go-redis reads of it
	kind        redisKind
	master      string // the name that Sentinels know the primary by
	tls         *tls.Config
	connections int // see pool
}

// readAddress reads a URL: with master_name of Sentinels, with cluster=true or addr of a Cluster, else of one server.
func readAddress(address string) (redisAddress, error) {
	u, err := url.Parse(address)
	if err != nil {
		return redisAddress{}, err
	}
	query := u.Query()
	a := redisAddress{master: query.Get("master_name")}
	clustered := false
	if query.Has(paramCluster) {
		if clustered, err = strconv.ParseBool(query.Get(paramCluster)); err != nil {
			return a, errors.New("cluster is true or false")
		}
	}
	switch {
	case query.Has("master_name") && a.master == "":
		return a, errors.New("master_name is the name that the Sentinels know the primary by")
	case query.Has("master_name") && clustered:
		return a, errors.New("master_name is for Sentinels, and a Cluster has none")
	case query.Has("master_name"):
		a.kind = bySentinels
	case clustered, query.Has("addr") && !query.Has(paramCluster):
		a.kind = cluster
		if db := strings.Trim(u.Path, "/"); db != "" && db != "0" {
			return a, errors.New("a Cluster has no databases beside 0")
		}
		u.Path = ""
	case query.Has("addr"):
		return a, errors.New("addr names more nodes of a Cluster, or more Sentinels with master_name")
	}
	if a.tls, err = readTLS(u, query, a.kind); err != nil {
		return a, err
	}
	for _, param := range []string{paramCluster, paramCA, paramCert, paramKey, paramServer} {
		query.Del(param)
	}
	u.RawQuery = query.Encode()
	a.url = u.String()
	return a, nil
}

// readTLS makes the settings of a rediss:// URL, and nil for another.
func readTLS(u *url.URL, query url.Values, kind redisKind) (*tls.Config, error) {
	if u.Scheme != "rediss" {
		for _, param := range []string{paramCA, paramCert, paramKey, paramServer} {
			if query.Has(param) {
				return nil, fmt.Errorf("%s goes with rediss://", param)
			}
		}
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: query.Get(paramServer)}
	if c.ServerName == "" && kind == oneServer {
		c.ServerName = u.Hostname() // the others have several hosts, each with a name of its own
	}
	if file := query.Get(paramCA); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", paramCA, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: %s holds no certificate in PEM", paramCA, file)
		}
	}
	switch cert, key := query.Get(paramCert), query.Get(paramKey); {
	case cert == "" && key == "":
	case cert == "" || key == "":
		return nil, fmt.Errorf("%s and %s go together", paramCert, paramKey)
	default:
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", paramCert, paramKey, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// connect makes the client that an address asks for. It never sends a command twice by itself: the engine knows which ones may be.
// Pipelines go over the connections that there are anyway. What maintenance a managed Redis announces is not asked for: it looks the
// host's name up before anything is said, even that of a socket, and a connection that goes away is made anew as everywhere.
func (a redisAddress) connect() (redis.UniversalClient, error) {
	switch a.kind {
	case bySentinels:
		o, err := redis.ParseFailoverURL(a.url)
		if err != nil {
			return nil, err
		}
		o.MaxRetries, o.DialerRetries, o.DialTimeout, o.ContextTimeoutEnabled, o.PipelinePoolSize = -1, 1, dialTimeout, true, -1
		o.TLSConfig, o.PoolSize = a.secured(o.TLSConfig), a.pool(o.PoolSize)
		return redis.NewFailoverClient(o), nil
	case cluster:
		o, err := redis.ParseClusterURL(a.url)
		if err != nil {
			return nil, err
		}
		o.MaxRetries, o.DialerRetries, o.DialTimeout, o.ContextTimeoutEnabled = -1, 1, dialTimeout, true
		o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		o.TLSConfig, o.PoolSize = a.secured(o.TLSConfig), a.pool(o.PoolSize)
		return redis.NewClusterClient(o), nil
	default:
		o, err := redis.ParseURL(a.url)
		if err != nil {
			return nil, err
		}
		o.MaxRetries, o.DialerRetries, o.DialTimeout, o.ContextTimeoutEnabled, o.PipelinePoolSize = -1, 1, dialTimeout, true, -1
		o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		o.TLSConfig, o.PoolSize = a.secured(o.TLSConfig), a.pool(o.PoolSize)
		return redis.NewClient(o), nil
	}
}

// pool is how many connections there may be, to each node: what the URL says, else what is needed, and 0 for go-redis to choose.
func (a redisAddress) pool(given int) int {
	if given > 0 || a.connections <= 10*runtime.GOMAXPROCS(0) {
		return given
	}
	return a.connections
}

// secured is the address's settings for TLS with what go-redis read of them, skip_verify; nil without TLS.
func (a redisAddress) secured(read *tls.Config) *tls.Config {
	if a.tls == nil || read == nil {
		return read
	}
	a.tls.InsecureSkipVerify = read.InsecureSkipVerify
	return a.tls
}

// about is what stands behind the address, in brackets and with a space before; "" for one server.
func (a redisAddress) about() string {
	switch a.kind {
	case bySentinels:
		return fmt.Sprintf(" (primary %q of Sentinels)", a.master)
	case cluster:
		return " (Cluster)"
	}
	return ""
}
