package embedded

import (
	"fmt"
	"os"
	"strings"
)

// info answers INFO with what programs ask for: which server this is, and how much it holds. redis_version is the
// version whose behaviour scripts and commands follow.
func info(ds *dataset, c *client, out []byte, _ []string) []byte {
	var b strings.Builder
	b.WriteString("# Server\r\nredis_version:7.0.0\r\nredis_mode:standalone\r\nserver_name:waybill-embedded\r\n")
	fmt.Fprintf(&b, "process_id:%d\r\n", os.Getpid())
	b.WriteString("# Persistence\r\nloading:0\r\naof_enabled:1\r\n# Replication\r\nrole:master\r\n# Keyspace\r\n")
	size := strings.TrimSpace(strings.TrimPrefix(string(ds.call(c, []string{"DBSIZE"})), ":"))
	fmt.Fprintf(&b, "db%d:keys=%s\r\n", c.db, size)
	return appendBulk(out, b.String())
}
