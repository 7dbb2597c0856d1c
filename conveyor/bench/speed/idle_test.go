package main

import "testing"

func TestFromScript(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`+1339518083.107412 [0 127.0.0.1:60866] "keys" "*"`:          false,
		`+1339518083.107412 [0 unix:/tmp/a/s] "fcall" "f" "1" "k"`:   false,
		`+1339518083.107412 [0 lua] "type" "status"`:                 true,
		`+1339518083.107412 [12 lua] "type" "[0 127.0.0.1:60866] "`:  true,
		`+1339518083.107412 [0 127.0.0.1:60866] "set" "a" "[0 lua]"`: false,
	} {
		if got := fromScript(line); got != want {
			t.Errorf("%s: got %v, want %v", line, got, want)
		}
	}
}
