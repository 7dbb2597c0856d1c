package schedule

import (
	_ "embed"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // where the machine has no time zones of its own, as in a minimal container, these are used
)

// zoneText lists the names of the IANA time zone database as of Go 1.26, sorted, one on each line. [time.LoadLocation] alone
// would take what this machine happens to have, such as "posixrules", or "europe/berlin" where files ignore case.
//
//go:embed zones.txt
var zoneText string

var zoneNames = strings.Fields(zoneText)

// loadZone finds a time zone by its IANA name; "" is UTC.
func loadZone(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	refuse := func(detail string) (*time.Location, error) {
		return nil, &Error{Kind: ErrZone, Attribute: "timezone", Value: name, Detail: detail}
	}
	const advice = `write an IANA name such as "Europe/Berlin" or "UTC"`
	if strings.EqualFold(name, "local") {
		return refuse("the local time of a machine is another on the next one; " + advice)
	}
	if _, known := slices.BinarySearch(zoneNames, name); !known {
		return refuse(advice + didYouMean(name, zoneNames))
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return refuse("this machine has it damaged (" + err.Error() + "); " + advice)
	}
	return zone, nil
}
