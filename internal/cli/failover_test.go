package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestApplyAfterFailover: a replica that never got an apply takes over. The next plan shows exactly what that had added, apply adds it
// again, and nothing else.
func TestApplyAfterFailover(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.SentinelOptions{})
	story := func(name, text string) {
		file := filepath.Join(t.TempDir(), name+".txtar")
		text = strings.TrimSpace(text) + "\n\n-- wf/main.hcl --\n" + `workflow "lost" {}
variable "regions" {}
job "load" {
  for_each = toset(split(",", var.regions))
  type     = "noop"
}
job "report" {
  type = "noop"
  predecessor { jobs = values(job.load) }
}
`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { tell(t, file, "", "WAYBILL_REDIS="+s.URL()) }) // returns when the story has ended
	}
	story("before", `
exec waybill apply -auto-approve -detach -var regions=eu,us wf
stdout '3 added, 0 changed, 0 destroyed'`)
	if err := s.Primary().AwaitReplicas(1); err != nil {
		t.Fatal(err)
	}
	s.Primary().Isolate(t, s.Replica())
	isolated := time.Now()
	story("lost", `
exec waybill apply -auto-approve -detach -var regions=eu,us,asia,africa wf
stdout '2 added, '
exec waybill plan -var regions=eu,us,asia,africa wf
stdout 'No changes'`)
	s.Primary().Kill()
	s.Suspect(t, max(time.Second, time.Since(isolated)/5))
	rdb := s.Client(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for { // until the replica has taken over
		err := rdb.Set(ctx, "taken over", "", 0).Err()
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	story("after", `
exec waybill plan -var regions=eu,us,asia,africa wf
stdout 'job.load\["asia"\] will be created'
stdout 'job.load\["africa"\] will be created'
! stdout '# job.load\["eu"\] '
stdout 'Plan: 2 to add, '
exec waybill apply -auto-approve -worker -var regions=eu,us,asia,africa wf
stdout '2 added, '
exec waybill plan -var regions=eu,us,asia,africa wf
stdout 'No changes'
exec waybill doctor wf`)
}
