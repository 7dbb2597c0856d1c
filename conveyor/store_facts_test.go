package conveyor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServerProblems(t *testing.T) {
	t.Parallel()
	const old = "it is version 6.2.14: version 7 or newer is needed, or Valkey"
	for _, row := range []struct {
		name, info string
		want       []string
	}{
		{"nothing told", "", nil},
		{"too old", "# Server\r\nredis_version:6.2.14\r\n", []string{old}},
		{"the oldest", "redis_version:7.0.0\r\n", nil},
		{"newer", "redis_version:8.2.1\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n", nil},
		{"Valkey", "server_name:valkey\r\nredis_version:7.2.4\r\nvalkey_version:8.1.0\r\nrole:master\r\n", nil},
		{"a version that is no number", "redis_version:unstable\r\n", nil},
		{"a replica that may be written", "role:slave\r\nslave_read_only:0\r\n", nil},
		{"all at once", "redis_version:6.2.14\r\nmaxmemory:1\r\nmaxmemory_policy:allkeys-lru\r\nrole:slave\r\nmaster_host:h\r\nmaster_port:1\r\n", []string{
			old, "its maxmemory-policy allkeys-lru throws jobs away once maxmemory (1 bytes) is reached: set maxmemory-policy noeviction",
			"it is a read-only replica of h:1: name the primary"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(row.want, serverInfo(row.info).problems()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
