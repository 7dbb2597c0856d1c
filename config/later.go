package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// refuseLater reports the arguments and blocks that the schema marks as later, and leaves them out. Support for one
// begins with taking its mark away.
func (c *content) refuseLater(r *report) {
	c.attrs = slices.DeleteFunc(c.attrs, func(a attribute) bool {
		spec := c.kind.arg(a.name)
		if spec != nil && spec.later {
			c.refused = true
			r.notSupported(a.name, "argument", c.kind, a.nameRange)
		}
		return spec != nil && spec.later
	})
	c.blocks = slices.DeleteFunc(c.blocks, func(b block) bool {
		if b.kind.later {
			c.refused = true
			r.notSupported(b.kind.name, "block", c.kind, b.header)
		}
		return b.kind.later
	})
}

func (r *report) notSupported(name, what string, in *kind, at hcl.Range) {
	r.error(sumNotSupported, at, "The %s %q of %s is part of the language, but this version does not support it yet. Remove it, or use a newer version.", what, name, in.where())
}
