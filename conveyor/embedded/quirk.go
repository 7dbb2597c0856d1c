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

// sCard counts; miniredis sorts the members to do so.
func sCard(ds *dataset, c *client, out []byte, args []string) []byte {
	if len(args) != 2 {
		return append(out, ds.call(c, args)...)
	}
	return append(out, ds.call(c, []string{"SINTERCARD", "1", args[1]})...)
}
