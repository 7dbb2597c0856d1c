package embedded

import "strings"

// verb says how one command is executed and what of it the journal keeps.
type verb struct {
	arity   int  // the least number of arguments, where the dataset itself looks at them
	writes  bool // changes data
	zero    bool // a reply of 0 means that nothing changed
	nothing bool // a null or empty reply means that nothing changed
	session bool // belongs to a connection (session.go) and is not executed here

	// blocks is how many arguments of the command say how long to wait; see block.go.
	blocks bool

	// deadline names the key whose deadline the command may have set.
	deadline func(args []string) string

	// run executes the command in a way of its own.
	run func(ds *dataset, c *client, out []byte, args []string) []byte
}

// verbs are the commands of the store. What miniredis offers beyond them is left out because it cannot be
// journalled or written into a snapshot: HyperLogLogs, TTLs of hash fields, consumer groups, DUMP and RESTORE, or
// because its copies share memory with their originals: COPY, MOVE, SWAPDB. LINSERT and LPOS have no meaning in a
// list that lies the other way round (mirror.go).
var verbs map[string]verb

func init() { verbs = makeVerbs() } // not in the declaration, since the commands' own functions look verbs up

func makeVerbs() map[string]verb {
	all := map[string]verb{}
	put := func(v verb, names string) {
		for _, name := range strings.Fields(names) {
			all[name] = v
		}
	}
	put(verb{}, `
		EXISTS TYPE KEYS SCAN RANDOMKEY TOUCH DBSIZE MEMORY ECHO PING COMMAND WAIT CLUSTER PUBLISH PUBSUB
		EXPIRETIME PEXPIRETIME
		GET MGET GETRANGE STRLEN GETBIT BITCOUNT BITPOS
		HEXISTS HGET HGETALL HKEYS HLEN HMGET HSTRLEN HVALS HSCAN HRANDFIELD
		LLEN
		SDIFF SINTER SINTERCARD SISMEMBER SMEMBERS SMISMEMBER SRANDMEMBER SUNION SSCAN
		ZCARD ZINTER ZLEXCOUNT ZRANGEBYLEX ZRANK ZREVRANGEBYLEX
		ZREVRANK ZSCORE ZMSCORE ZUNION ZSCAN ZRANDMEMBER
		XLEN XINFO`)
	put(verb{writes: true}, `
		APPEND BITOP DECR DECRBY GETSET INCR INCRBY INCRBYFLOAT MSET SETBIT
		HINCRBY HINCRBYFLOAT HMSET HSET
		ZINCRBY FLUSHALL FLUSHDB`)
	put(verb{writes: true, zero: true}, `
		DEL UNLINK PERSIST SETNX MSETNX HDEL HSETNX SADD SREM SMOVE
		ZREM ZREMRANGEBYLEX ZREMRANGEBYRANK ZREMRANGEBYSCORE XDEL XTRIM`)
	put(verb{writes: true, nothing: true}, `
		GETDEL ZADD ZMPOP`)
	put(verb{writes: true, deadline: second}, `RENAME`)
	put(verb{writes: true, zero: true, deadline: second}, `RENAMENX`)

	put(verb{writes: true, zero: true, deadline: first, run: expireKey, arity: 2}, `EXPIRE PEXPIRE EXPIREAT PEXPIREAT`)
	put(verb{writes: true, deadline: first, run: set, arity: 2}, `SET`)
	put(verb{writes: true, deadline: first, run: setEx, arity: 3}, `SETEX PSETEX`)
	put(verb{writes: true, deadline: first, run: getEx, arity: 1}, `GETEX`)
	put(verb{writes: true, run: storeSet, arity: 2}, `SDIFFSTORE SINTERSTORE SUNIONSTORE ZINTERSTORE ZUNIONSTORE`)
	put(verb{writes: true, run: setRange, arity: 3}, `SETRANGE`)
	put(verb{writes: true, run: mirror, arity: 1}, `LPUSH RPUSH LPUSHX RPUSHX LPOP RPOP`)
	put(verb{writes: true, run: mirrorSides, arity: 2}, `LMOVE LMPOP RPOPLPUSH`)
	put(verb{writes: true, run: mirrorPlaces, arity: 3}, `LSET LTRIM LREM`)
	put(verb{run: lRange, arity: 3}, `LRANGE`)
	put(verb{run: lIndex, arity: 2}, `LINDEX`)
	put(verb{run: sCard, arity: 1}, `SCARD`)
	put(verb{run: zRange, arity: 3}, `ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE`)
	put(verb{run: zCount, arity: 3}, `ZCOUNT`)
	put(verb{writes: true, run: zPop, arity: 1}, `ZPOPMIN ZPOPMAX`)
	put(verb{run: ttl, arity: 1}, `TTL PTTL`)
	put(verb{run: serverTime}, `TIME`)
	put(verb{run: info}, `INFO`)
	put(verb{writes: true, nothing: true, run: sPop, arity: 1}, `SPOP`)
	put(verb{writes: true, nothing: true, run: xAdd, arity: 4}, `XADD`)
	put(verb{run: xRange, arity: 3}, `XRANGE XREVRANGE`)
	put(verb{run: xRead, arity: 3, blocks: true}, `XREAD`)
	put(verb{run: evalText, arity: 2}, `EVAL EVAL_RO`)
	put(verb{run: evalSha, arity: 2}, `EVALSHA EVALSHA_RO`)
	put(verb{run: scriptCache, arity: 1}, `SCRIPT`)
	put(verb{writes: true, run: popAny, arity: 2, blocks: true}, `BLPOP BRPOP BZPOPMIN BZPOPMAX`)
	put(verb{writes: true, run: popWithTimeoutLast, arity: 3, blocks: true}, `BRPOPLPUSH BLMOVE`)
	put(verb{writes: true, run: popWithTimeoutFirst, arity: 4, blocks: true}, `BLMPOP BZMPOP`)

	put(verb{session: true}, `
		MULTI EXEC DISCARD WATCH UNWATCH SELECT HELLO CLIENT AUTH QUIT RESET READONLY READWRITE
		SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE`)
	return all
}

func first(args []string) string { return args[1] }

func second(args []string) string { return args[2] }
