package planner_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// sealer stands for a keyring: what it seals cannot be read without it, and opens for one type and address only.
type sealer struct{}

func (sealer) Seal(jobType, address string, payload []byte) ([]byte, error) {
	return []byte(base64.StdEncoding.EncodeToString([]byte(jobType + "|" + address + "|" + string(payload)))), nil
}

func (sealer) Open(jobType, address string, sealed []byte) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(string(sealed))
	payload, ok := bytes.CutPrefix(raw, []byte(jobType+"|"+address+"|"))
	if err != nil || !ok {
		return nil, errors.New("does not open")
	}
	return payload, nil
}

// TestPlanFileOfAnotherKey: a plan without sensitive values is read with any key, but for the configuration it was made from.
func TestPlanFileOfAnotherKey(t *testing.T) {
	t.Parallel()
	p := goldenPlan(t, "failed_child")
	p.Archive = []byte("archive")
	raw := writePlan(t, p)
	for name, open := range map[string]planner.Sealer{"none": nil, "another": otherKey{}} {
		read, err := planner.ReadPlan(bytes.NewReader(raw), open)
		if err != nil || read.Archive != nil || len(read.Rows) != len(p.Rows) {
			t.Errorf("%s: %+v, %v", name, read, err)
		}
	}
}

// otherKey opens nothing.
type otherKey struct{ sealer }

func (otherKey) Open(_, _ string, _ []byte) ([]byte, error) {
	return nil, errors.New("sealed with another key")
}

// TestPlanFile writes the plan of each golden folder and reads it back.
func TestPlanFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"create", "running", "sensitive", "settings", "destroy", "failed_child"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := func() *planner.Plan {
				p := goldenPlan(t, name)
				p.Source = planner.Source{Revision: "c0ffee", Author: "Ann <ann@example.com>", Message: "more jobs", Time: time.Unix(1e9, 0).UTC()}
				p.Archive = []byte("with s3cret in it")
				return p
			}
			p := from()
			raw := writePlan(t, p)
			if !bytes.Equal(raw, writePlan(t, from())) {
				t.Error("the same plan is other bytes")
			}
			if !planner.IsPlanFile(raw[:16]) || planner.IsPlanFile([]byte("workflow \"x\" {}")) {
				t.Error("a plan file is not told from others")
			}
			read, err := planner.ReadPlan(bytes.NewReader(raw), sealer{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(p, read); diff != "" {
				t.Errorf("-written +read:\n%s", diff)
			}
			if bytes.Contains(raw, []byte("s3cret")) || bytes.Contains(raw, []byte(base64.StdEncoding.EncodeToString([]byte("s3cret"))[:6])) {
				t.Error("a sensitive value is in the file")
			}
		})
	}
}

func goldenPlan(t *testing.T, name string) *planner.Plan {
	t.Helper()
	folder := filepath.Join("testdata/plans", name)
	file := "after.hcl"
	if name == "destroy" || name == "failed_child" {
		file = "before.hcl"
	}
	return mustMake(t, load(t, filepath.Join(folder, file)), goldenState(t, folder), goldenOptions(t, folder))
}

func writePlan(t *testing.T, p *planner.Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := planner.WritePlan(&b, p, sealer{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlanFileErrors(t *testing.T) {
	t.Parallel()
	w := edited(workflowOf("a", "b a"), "b", func(j *config.Job) { j.Sensitive = true })
	p := mustMake(t, w, noState(), planner.Options{Digest: keyed, KeyID: "0badcafe"})
	if err := planner.WritePlan(&bytes.Buffer{}, p, nil); err == nil || !strings.Contains(err.Error(), "job.b has sensitive values") {
		t.Errorf("written without key: %v", err)
	}
	good := string(writePlan(t, p))
	if _, err := planner.ReadPlan(strings.NewReader(good), nil); err == nil || !strings.Contains(err.Error(), "job.b has sensitive values") {
		t.Errorf("read without key: %v", err)
	}
	tests := []struct{ name, file, want string }{
		{"empty", "", "does not start as one"},
		{"something else", "workflow \"x\" {}\n", "does not start as one"},
		{"newer", strings.Replace(good, "plan 1\n", "plan 2\n", 1), `has format "2", and this version of waybill reads format 1`},
		{"cut short", good[:len(good)/2], "unexpected end of JSON input"},
		{"another address", strings.Replace(good, `"addr":"job.a"`, `"addr":"job.x"`, 1), "it holds the job job.a"},
		{"no address", strings.Replace(good, `"addr":"job.a"`, `"addr":"a"`, 1), "does not start with job."},
		{"unknown action", strings.Replace(good, `"action":1`, `"action":77`, 1), "unknown action or status"},
		{"a replacement of nothing", strings.Replace(good, `"action":1`, `"action":5`, 1), "without a record"},
		{"a deletion of a declared job", strings.Replace(good, `"action":1`, `"action":6`, 1), "does not go with what is declared"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := planner.ReadPlan(strings.NewReader(test.file), sealer{})
			if !errors.Is(err, planner.ErrPlanFile) || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// FuzzReadPlan feeds anything: no panic, and what is read can be rendered.
func FuzzReadPlan(f *testing.F) {
	w := workflowOf("a", "b ^a")
	p, _ := planner.Make(w, noState(), planner.Options{})
	var b bytes.Buffer
	_ = planner.WritePlan(&b, p, nil)
	f.Add(b.Bytes())
	f.Add([]byte("waybill plan 1\n{}"))
	f.Add([]byte(`waybill plan 1` + "\n" + `{"rows":[{"addr":"job.a","action":0,"prior":"MSAxIA=="}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := planner.ReadPlan(bytes.NewReader(raw), sealer{})
		if err != nil {
			return
		}
		if err := p.Render(&bytes.Buffer{}, planner.RenderOptions{Width: 20}); err != nil {
			t.Fatal(err)
		}
		reviewed(t, p, planner.MarkdownOptions{})
		for m := range p.Messages() {
			_ = m
		}
	})
}
