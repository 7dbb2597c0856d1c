package planner

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// protect refuses a plan that ends jobs under prevent_destroy: that deletes their records, or cancels what is live of them. A new
// generation of what has ended is no end of anything, and neither is forgetting what is lost already.
func (m *maker) protect(list []config.Protected) (diags hcl.Diagnostics) {
	if len(list) == 0 {
		return nil
	}
	at := make(map[config.Addr]hcl.Range, len(list))
	for _, p := range list {
		at[p.Block] = p.Range
	}
	for _, r := range m.inOrder() {
		if r.Action != Delete && (r.Action != Replace || !r.CancelFirst) {
			continue
		}
		rng, is := at[r.Addr.Unkeyed()]
		if !is {
			continue
		}
		would := "cancel its job, which is " + r.Live.Status.String() + ","
		switch {
		case r.Action == Delete && r.Live.Status.Ended():
			would = "forget it"
		case r.Action == Delete:
			would = "cancel and forget its job, which is " + r.Live.Status.String() + ","
		}
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Instance cannot be destroyed", Subject: rng.Ptr(),
			Detail: fmt.Sprintf("%s is protected by prevent_destroy, and this plan would %s because %s. Set prevent_destroy = false if that is meant; "+
				"otherwise undo what calls for it, or leave the job out with -exclude.", r.Addr, would, r.Because()),
		})
		if len(diags) == maxProtected {
			break
		}
	}
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int { return compareSubjects(a, b) })
	return diags
}

// maxProtected bounds how many protected jobs one plan names.
const maxProtected = 20

func compareSubjects(a, b *hcl.Diagnostic) int {
	if a.Subject.Filename != b.Subject.Filename {
		if a.Subject.Filename < b.Subject.Filename {
			return -1
		}
		return 1
	}
	return a.Subject.Start.Byte - b.Subject.Start.Byte
}
