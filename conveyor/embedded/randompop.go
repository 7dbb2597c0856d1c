package embedded

// sPop takes random members and records which.
func sPop(ds *dataset, c *client, out []byte, args []string) []byte {
	reply := ds.call(c, args)
	out = append(out, reply...)
	if isError(reply) || isNothing(reply) {
		return out
	}
	if members, err := replyStrings(reply); err == nil && len(members) > 0 {
		ds.record(c.db, append([]string{"SREM", args[1]}, members...)...)
	}
	return out
}
