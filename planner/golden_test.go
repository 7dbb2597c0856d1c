package planner_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

// TestGolden makes the plan of every folder of testdata/plans:
//
//	before.hcl  what was applied and has ended well; without it there is no state
//	live        what became of it: "job.a running", one a line; "deposed" behind it marks the record, "again" that it was
//	            retried, "stopping" is running and told to stop, "in 5s" how long its own work took
//	after.hcl   what is declared now; without it, before.hcl
//	options     destroy, rerun, refresh_only, target ADDR, exclude ADDR, replace ADDR, one a line
//	assumed     nobody has looked at how the jobs stand
//	now         the store's clock; without it, no times are told
//	plan.txt    the plan for people, plan.jsonl for programs, and plan.md for reviewers: written by -update
func TestGolden(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/plans/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no folders in testdata/plans: %v", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			var err error
			s := goldenState(t, folder)
			after := filepath.Join(folder, "after.hcl")
			if _, err := os.Stat(after); errors.Is(err, fs.ErrNotExist) {
				after = filepath.Join(folder, "before.hcl")
			}
			for _, line := range linesOf(t, folder, "now") {
				if s.Now, err = time.Parse(time.RFC3339, line); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := os.Stat(filepath.Join(folder, "assumed")); err == nil {
				s.Assume()
			}
			o := goldenOptions(t, folder)
			w := load(t, after)
			p, diags := planner.Make(w, s, o)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			var human, lines bytes.Buffer
			if err := p.Render(&human, planner.RenderOptions{Width: 100}); err != nil {
				t.Fatal(err)
			}
			for m := range p.Messages() {
				fmt.Fprintf(&lines, "{\"type\":%q,\"@message\":%q,%s\n", m.Type, m.Text, m.Body[1:])
			}
			compareGolden(t, filepath.Join(folder, "plan.txt"), human.Bytes())
			compareGolden(t, filepath.Join(folder, "plan.jsonl"), lines.Bytes())
			compareGolden(t, filepath.Join(folder, "plan.md"), []byte(reviewed(t, p, planner.MarkdownOptions{File: "saved.wbplan"})))
			if s, diags = planner.Moved(s, w); diags.HasErrors() {
				t.Fatal(diags)
			}
			if err := planner.Settle(p, s); err != nil {
				t.Fatal(err)
			}
			for _, r := range p.Rows {
				checkNext(t, r)
			}
		})
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), -update writes it anew:\n%s", name, diff)
	}
}

func load(t testing.TB, files ...string) *config.Workflow {
	t.Helper()
	w, diags := config.Load(config.Options{Paths: files, NeedVariables: true})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return w
}

// keyed is a digest function under a key of its own.
func keyed(sensitive bool, data []byte) (planner.Digest, string) {
	h := hmac.New(sha256.New, []byte("a key for tests"))
	h.Write(data)
	return planner.Digest(h.Sum(nil)[:16]), "0badcafe"
}

func goldenState(t *testing.T, folder string) *planner.State {
	t.Helper()
	before := filepath.Join(folder, "before.hcl")
	if _, err := os.Stat(before); errors.Is(err, fs.ErrNotExist) {
		return noState()
	}
	s := noState()
	w := load(t, before)
	p := mustMake(t, w, s, planner.Options{Digest: keyed, KeyID: "0badcafe"})
	if err := planner.Settle(p, s); err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Rows {
		s.Records[r.Addr.String()] = r.Next
		s.Live[r.Addr.String()] = planner.Live{Status: planner.Completed, Opening: 1}
	}
	s.Queues = map[string]planner.QueueSettings{}
	for _, q := range p.Queues {
		s.Queues[q.Name] = *q.Next
	}
	// Outputs are stored with uuids: those of the first plan are known now.
	p = mustMake(t, w, s, planner.Options{Digest: keyed, KeyID: "0badcafe"})
	s.Outputs = map[string]string{}
	for _, o := range p.Outputs {
		s.Outputs[o.Name] = o.Next
	}
	for _, line := range linesOf(t, folder, "live") {
		address, words, _ := strings.Cut(line, " ")
		status, deposed := strings.CutSuffix(words, " deposed")
		s.Live[address] = liveOf(t, status)
		s.Records[address].Deposed = deposed
	}
	return s
}

// liveOf reads a status, with "children" behind failed for failed(child), and a cause after a colon.
func liveOf(t *testing.T, words string) planner.Live {
	t.Helper()
	words, cause, _ := strings.Cut(words, ": ")
	if words, text, timed := strings.Cut(words, " in "); timed {
		l, err := liveOf(t, words), error(nil)
		if l.Worked, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		l.Fence = 1
		return l
	}
	if words, again := strings.CutSuffix(words, " again"); again {
		l := liveOf(t, words)
		l.Opening++
		return l
	}
	if words == "stopping" {
		return planner.Live{Status: planner.Running, Opening: 1, CancelAsked: true}
	}
	if strings.HasPrefix(words, "failed children") {
		words, _, _ = strings.Cut(words, " in ")
	}
	if words == "failed children" {
		return planner.Live{Status: planner.Failed, Opening: 1, ChildFailed: true, FailedChildren: 1}
	}
	for s := planner.Lost; s <= planner.Expired; s++ {
		if s.String() == words {
			return planner.Live{Status: s, Opening: 1, Cause: cause}
		}
	}
	t.Fatalf("%q is no status", words)
	return planner.Live{}
}

func goldenOptions(t *testing.T, folder string) planner.Options {
	t.Helper()
	o := planner.Options{Digest: keyed, KeyID: "0badcafe"}
	for _, line := range linesOf(t, folder, "options") {
		word, address, _ := strings.Cut(line, " ")
		switch word {
		case "destroy":
			o.Destroy = true
		case "rerun":
			o.Rerun = true
		case "target":
			o.Targets = append(o.Targets, addr(address))
		case "exclude":
			o.Exclude = append(o.Exclude, addr(address))
		case "refresh_only":
			o.RefreshOnly = true
		case "replace":
			o.Replace = append(o.Replace, addr(address))
		default:
			t.Fatalf("%q is no option", line)
		}
	}
	return o
}

// linesOf reads a file of a folder, none if it is not there.
func linesOf(t *testing.T, folder, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(raw), func(r rune) bool { return r == '\n' })
}
