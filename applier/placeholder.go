package applier

import (
	"fmt"

	"github.com/waybill-dev/waybill/config"
)

// fillPlaceholders puts uuids in place of references to other jobs' uuids. Digests are made over the placeholders, so that
// a job which only names another one's uuid is not changed by its running again. What only looks like a placeholder stays.
func fillPlaceholders(data []byte, uuids func(config.Addr) (string, bool)) ([]byte, error) {
	var missing error
	filled := config.FillPlaceholders(data, func(address string) string {
		addr, err := config.ParseAddr(address)
		if err != nil {
			return ""
		}
		id, ok := uuids(addr)
		if !ok && missing == nil {
			missing = fmt.Errorf("it names the uuid of %s, which has no submission; include that job in the apply", addr)
		}
		return id
	})
	return filled, missing
}
