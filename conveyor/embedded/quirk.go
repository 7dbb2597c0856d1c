package embedded

import "strconv"

// The commands here are done by miniredis in ways that differ from Redis, and are put right.

// storeSet deletes the destination when the result is empty; miniredis leaves an empty key.
func storeSet(ds *dataset, c *client, out []byte, args []string) []byte {
	out = ds.write(c, out, verb{writes: true}, args, args)
	if db := ds.m.DB(c.db); ds.emptied(c.db, args[1]) && db.Del(args[1]) {
		ds.record(c.db, "DEL", args[1])
	}
	return out
}

// emptied reports a key of a set or sorted set without members.
func (ds *dataset) emptied(i int, key string) bool {
	db := ds.m.DB(i)
	switch db.Type(key) {
	case "set":
		members, err := db.Members(key)
		return err == nil && len(members) == 0
	case "zset":
		members, err := db.SortedSet(key)
		return err == nil && len(members) == 0
	}
	return false
}

// setRange changes nothing when there is nothing to write; miniredis pads the string.
func setRange(ds *dataset, c *client, out []byte, args []string) []byte {
	if len(args) == 4 && args[3] == "" {
		if n, err := strconv.Atoi(args[2]); err == nil && n >= 0 {
			return append(out, ds.call(c, []string{"STRLEN", args[1]})...)
		}
	}
	return ds.write(c, out, verb{writes: true}, args, args)
}

// zPop pops nothing when asked for nothing; miniredis pops one.
func zPop(ds *dataset, c *client, out []byte, args []string) []byte {
	if len(args) == 3 && args[2] == "0" {
		if kind := ds.m.DB(c.db).Type(args[1]); kind != "" && kind != "zset" {
			return appendError(out, wrongType)
		}
		return appendArray(out, 0)
	}
	return ds.write(c, out, verb{writes: true, nothing: true}, args, args)
}
