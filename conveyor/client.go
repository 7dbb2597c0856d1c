package conveyor

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// DefaultNamespace is used when Options names none.
const DefaultNamespace = "waybill"

// Options configures a Client. The zero value works.
type Options struct {
	// Namespace prefixes every key as "{namespace}:", so that a namespace is one slot of a Cluster. The default is
	// DefaultNamespace; it must match [A-Za-z0-9._-]{1,128}.
	Namespace string
	// EmptyNamespace uses the specification's keys literally, without prefix. It excludes Namespace, and is refused on a
	// Cluster, where such keys would be spread over slots.
	EmptyNamespace bool
	// Logger gets what nobody can return: set-aside entries, retried calls. The default discards.
	Logger *slog.Logger
	// Observer is told what happens, for metrics: see the package conveyor/metrics. A NamespaceObserver may be that of several
	// Clients. Default: none.
	Observer Observer
}

func (o Options) withDefaults() Options {
	if o.Namespace == "" && !o.EmptyNamespace {
		o.Namespace = DefaultNamespace
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) validate(rdb redis.UniversalClient) error {
	var problems []error
	if o.EmptyNamespace {
		if o.Namespace != "" {
			problems = append(problems, fmt.Errorf("Namespace %q and EmptyNamespace exclude each other", o.Namespace))
		}
		if _, cluster := rdb.(*redis.ClusterClient); cluster {
			problems = append(problems, errors.New("EmptyNamespace: keys without a hash tag cannot live on a Cluster, set Namespace"))
		}
	} else if !validName(o.Namespace) {
		problems = append(problems, fmt.Errorf("Namespace %q does not match [A-Za-z0-9._-]{1,128}", o.Namespace))
	}
	if rdb == nil {
		problems = append(problems, errors.New("no Redis client"))
	}
	return errors.Join(problems...)
}

// Client adds, changes and observes jobs, and is what a Worker stands on. It is safe for any number of goroutines.
// It never re-sends a call whose reply was lost unless the call is idempotent by uuid, fence, or caller and number; the
// redis.UniversalClient given must therefore not retry by itself (MaxRetries: -1).
type Client struct {
	rdb        redis.UniversalClient
	clustered  bool // rdb is a Cluster's
	keys       keyspace
	logger     *slog.Logger
	observer   Observer // nil for none
	broadcasts *broadcaster
	hearing    *hearing
	adds       *gathering

	noFunctions atomic.Bool // the store has no functions, or none for this user: scripts are called by their sums
}

// NewClient returns a Client over rdb, which stays the caller's to close. Clients of several namespaces may share one. A client of a
// Cluster gets a hook, once, that has it look for the new primary when a node does not answer.
func NewClient(rdb redis.UniversalClient, o Options) (*Client, error) {
	o = o.withDefaults()
	if err := o.validate(rdb); err != nil {
		return nil, fmt.Errorf("conveyor options: %w", err)
	}
	cluster, clustered := rdb.(*redis.ClusterClient)
	if clustered {
		followFailovers(cluster)
	}
	if o.Observer != nil {
		if n, ok := o.Observer.(NamespaceObserver); ok {
			o.Observer = n.In(o.Namespace)
		}
	}
	c := &Client{rdb: rdb, clustered: clustered, keys: newKeyspace(o.Namespace), logger: o.Logger, observer: o.Observer, broadcasts: newBroadcaster()}
	c.hearing, c.adds = newHearing(c, o.Logger), &gathering{c: c}
	return c, nil
}

// Prefix is what every key of the namespace starts with: "{namespace}:", or "" for the empty one.
func (c *Client) Prefix() string { return string(c.keys) }

// Namespace is the namespace's name, "" for the empty one.
func (c *Client) Namespace() string { return c.keys.namespace() }

// Redis is the client that was given to NewClient.
func (c *Client) Redis() redis.UniversalClient { return c.rdb }
