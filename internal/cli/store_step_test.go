package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill-dev/waybill/conveyor/embedded"
)

// storeCommand sends one command to the store of a workflow, whichever it is; the reply is in the file store.txt:
// store DIR COMMAND ARGS...
func storeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: store DIR COMMAND ARGS...")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var rdb redis.UniversalClient
	if url := ts.Getenv("REDIS"); url != "" {
		o, err := redis.ParseURL(url)
		ts.Check(err)
		client := redis.NewClient(o)
		defer client.Close() //nolint:errcheck // nothing to lose
		rdb = client
	} else {
		st, err := embedded.Open(ctx, filepath.Join(ts.MkAbs(args[0]), ".waybill"), embedded.Options{})
		ts.Check(err)
		defer func() { ts.Check(st.Close()) }()
		rdb = st.Client()
	}
	words := make([]any, len(args)-1)
	for i, a := range args[1:] {
		words[i] = a
	}
	reply, err := rdb.Do(ctx, words...).Result()
	if err != nil && err != redis.Nil {
		ts.Fatalf("store %v: %v", args, err)
	}
	ts.Check(os.WriteFile(ts.MkAbs("store.txt"), []byte(fmt.Sprintln(reply)), 0o600))
}
