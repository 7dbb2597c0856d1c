package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"
)

// interrupt starts a command, waits until a file exists, and sends SIGINT; the command has to end with a certain code. What
// it wrote is in the files stdout.txt and stderr.txt: interrupt CODE FILE COMMAND ARGS...
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt CODE FILE COMMAND ARGS...")
	}
	ctx, cancel := context.WithTimeout(context.Background(), awaitAtMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[2], args[3:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "XDG_CONFIG_HOME="+ts.Getenv("XDG_CONFIG_HOME"), "XDG_RUNTIME_DIR=",
		"WAYBILL_REDIS="+ts.Getenv("WAYBILL_REDIS"))
	ts.Check(cmd.Start())
	await(ts, false, args[1:2])
	ts.Check(cmd.Process.Signal(os.Interrupt))
	cmd.Wait() //nolint:errcheck // the code says it
	ts.Check(os.WriteFile(ts.MkAbs("stdout.txt"), stdout.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), stderr.Bytes(), 0o600))
	ts.Logf("[stdout]\n%s[stderr]\n%s", stdout.String(), stderr.String())
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// redisCommand sends one command to the story's Redis; the reply is in the file redis.txt: redis COMMAND ARGS...
func redisCommand(ts *testscript.TestScript, neg bool, args []string) {
	rdb, err := clientOf(ts.Getenv("REDIS"))
	if err != nil || neg || len(args) == 0 {
		ts.Fatalf("usage, in stories on Redis: redis COMMAND ARGS... (%v)", err)
	}
	defer rdb.Close() //nolint:errcheck // nothing to lose
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	words := make([]any, len(args))
	for i, a := range args {
		words[i] = a
	}
	reply, err := rdb.Do(ctx, words...).Result()
	if err != nil && err != redis.Nil {
		ts.Fatalf("redis %v: %v", args, err)
	}
	ts.Check(os.WriteFile(ts.MkAbs("redis.txt"), []byte(fmt.Sprintln(reply)), 0o600))
}

// clientOf is a client of the Redis or, where the URL names more nodes, the Cluster of a story.
func clientOf(url string) (redis.UniversalClient, error) {
	if strings.Contains(url, "addr=") {
		o, err := redis.ParseClusterURL(url)
		if err != nil {
			return nil, err
		}
		return redis.NewClusterClient(o), nil
	}
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	return redis.NewClient(o), nil
}

// uuidOf puts the uuid of a recorded job into a variable of the story: uuid ADDR NAME DIR.
func uuidOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: uuid ADDR NAME DIR")
	}
	ts.Check(ts.Exec("waybill", "state", "show", "-json", args[0], args[2]))
	found := regexp.MustCompile(`"uuid":"([0-9a-f-]{36})"`).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("%s has no uuid", args[0])
	}
	ts.Setenv(args[1], found[1])
}
