package redistest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/internal/redistest"
)

func TestProxyLosesWhatItIsTold(t *testing.T) {
	t.Parallel()
	for _, fault := range []redistest.Fault{redistest.Pass, redistest.LoseRequest, redistest.LoseReply} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			server := redistest.Shared(t)
			p := server.Proxy(t)
			p.Plan(func(n int) redistest.Fault {
				if n == 2 {
					return fault
				}
				return redistest.Pass
			})
			rdb := redis.NewClient(p.Options())
			defer func() { _ = rdb.Close() }()
			key := redistest.Namespace()
			got := []string{}
			for range 3 {
				n, err := rdb.Incr(t.Context(), key).Result()
				got = append(got, fmt.Sprint(n, err != nil))
			}
			want := map[redistest.Fault][]string{
				redistest.Pass:        {"1 false", "2 false", "3 false"},
				redistest.LoseRequest: {"1 false", "0 true", "2 false"},
				redistest.LoseReply:   {"1 false", "0 true", "3 false"},
			}[fault]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("replies (-want +got):\n%s", diff)
			}
			if n := p.Requests(); n != 3 || p.Seen()["INCR"] != 3 {
				t.Errorf("%d requests, %v", n, p.Seen())
			}
		})
	}
}

// TestProxyPassesAnyReply sends every shape of reply through a proxy, alone and in pipelines.
func TestProxyPassesAnyReply(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t)
	direct := server.Client(t)
	through := redis.NewClient(server.Proxy(t).Options())
	defer func() { _ = through.Close() }()
	ctx := t.Context()
	for _, reply := range []string{
		"{map={a=1, b={1, 'x'}}}", "{set={a=true}}", "{double=1.5}", "{big_number='12345678901234567890'}", "true", "false", "nil",
		"{verbatim_string={format='txt', string='text'}}", "{1, 'two', {}}", "''", "'line\\r\\nline'", "redis.error_reply('ERR no')", "redis.status_reply('OK')",
	} {
		script := "redis.setresp(3); return " + reply
		want, wantErr := direct.Eval(ctx, script, nil).Result()
		got, err := through.Eval(ctx, script, nil).Result()
		if diff := cmp.Diff(fmt.Sprintf("%#v %v", want, wantErr), fmt.Sprintf("%#v %v", got, err)); diff != "" {
			t.Errorf("%s (-direct +through):\n%s", reply, diff)
		}
	}
	key := redistest.Namespace()
	if _, err := through.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := range 1000 {
			pipe.RPush(ctx, key, fmt.Sprintf("%d", i))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	list, err := through.LRange(ctx, key, 0, -1).Result()
	if err != nil || len(list) != 1000 || list[999] != "999" {
		t.Errorf("%d elements, %v", len(list), err)
	}
}
