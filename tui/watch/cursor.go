package watch

import "github.com/waybill-dev/waybill/config"

// jobKey names a job over changes of lists.
type jobKey struct {
	flow string
	addr config.Addr
}

func (r row) key() jobKey { return jobKey{r.flow.key, r.job.Addr} }

// cursor is the chosen line of a list and what of the list is shown. It stays with its job when lines move.
type cursor struct {
	at, top int
	key     jobKey
	moved   bool // its user has chosen: before, it stays in the first line
}

// settle finds the cursor's job in a list that was made anew; a job that is gone leaves the cursor where it was.
func (c *cursor) settle(n int, key func(int) jobKey) {
	if c.moved {
		if c.at < n && key(c.at) == c.key {
			return
		}
		for i := range n {
			if key(i) == c.key {
				c.top += i - c.at
				c.at = i
				return
			}
		}
	}
	c.at = max(0, min(c.at, n-1))
	if n > 0 {
		c.key = key(c.at)
	}
}

// show keeps the cursor on the list and in the part of it that is shown.
func (c *cursor) show(n, height int) {
	c.at = max(0, min(c.at, n-1))
	c.top = min(c.top, c.at)
	c.top = max(c.top, c.at-max(height, 1)+1)
	c.top = max(0, min(c.top, n-height))
}
