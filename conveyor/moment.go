package conveyor

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// While the slot of a namespace moves from one node of a Cluster to another, each of its keys is on either. A node that does not have a
// key sends whoever asks for it to the other one, and there a key that has not come yet reads as if it did not exist. A command
// of one key finds it that way; a script that makes key names, or a transaction, would see half of the namespace, and a script
// would fail in its midst or write beside what is still to come. So both name keys that never exist, with the first key of a
// script or two of them in a transaction: as long as a slot is in two halves the nodes answer TRYAGAIN to whatever names several keys
// of which one is missing, before anything is done. Both are asked again until the slot has moved.

// moment begins a transaction that only reads: its answers are of one moment, and of the whole namespace.
func (c *Client) moment(ctx context.Context) redis.Pipeliner {
	pipe := c.rdb.TxPipeline()
	if c.clustered {
		pipe.Exists(ctx, c.keys.room(), c.keys.whole())
	}
	return pipe
}
