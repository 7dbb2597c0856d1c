package outbox

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// relayStatements are what a relay asks of its table.
type relayStatements struct {
	*statements
	claimFor time.Duration
	// prepare is what a transaction begins with and restore what it ends with; "" is nothing. In between the server ends it when its
	// relay has fallen silent, so that the rows it has locked come free even if the machine is gone and the connection seems
	// to be there. PostgreSQL also reads rows in the order of the index of pending ones then: as long as the table has no
	// statistics, or those of a day when it was empty, the planner would rather sort all that are pending for each batch of them.
	prepare, restore string
}

func (s *statements) relay(o RelayOptions) *relayStatements {
	r := &relayStatements{statements: s, claimFor: max(2*o.PushTimeout, 10*time.Second)}
	silence := o.PushTimeout + 10*time.Second
	switch s.dialect {
	case PostgreSQL:
		r.prepare = fmt.Sprintf("SELECT set_config('idle_in_transaction_session_timeout', '%d', true), set_config('enable_sort', 'off', true)",
			silence.Milliseconds())
	case MySQL: // has it for connections only, and this one is also its owner's
		r.prepare = fmt.Sprintf("SET @waybill_wait = @@SESSION.wait_timeout, SESSION wait_timeout = %d", silence/time.Second)
		r.restore = "SET SESSION wait_timeout = @waybill_wait"
	}
	return r
}

// take reads and locks id, uuid and job of the oldest n rows that are pending for at least leeway, without those that another
// relay has locked. It belongs into a transaction that is READ COMMITTED: under MySQL's default it would lock the gaps
// between rows too, and so whoever inserts.
func (s *relayStatements) take(leeway time.Duration, n int) string {
	return s.text("SELECT {id}, {uuid}, {job} FROM {table} WHERE ", s.due(leeway), " ORDER BY {id} LIMIT ", strconv.Itoa(n), " FOR UPDATE SKIP LOCKED")
}

// claim is SQLite's take: it writes the relay's name, both of its parameters, and the end of the claim into the rows instead of
// locking them, and returns them in any order. A claim that ends later than any can was made before the clock was set back.
func (s *relayStatements) claim(leeway time.Duration, n int) string {
	until := s.dialect.nowPlus(s.claimFor)
	return s.text("UPDATE {table} SET {claimed_by} = {1}, {claimed_until} = ", until, " WHERE {id} IN (SELECT {id} FROM {table} WHERE ", s.due(leeway),
		" AND ({claimed_until} IS NULL OR {claimed_until} NOT BETWEEN {now} AND ", until, " OR {claimed_by} = {2})",
		" ORDER BY {id} LIMIT ", strconv.Itoa(n), ") RETURNING {id}, {uuid}, {job}")
}

// unclaim gives up rows that the relay, its only parameter, has claimed.
func (s *relayStatements) unclaim(ids []int64) string {
	return s.text("UPDATE {table} SET {claimed_by} = NULL, {claimed_until} = NULL WHERE {claimed_by} = {1} AND {id} IN (", list(ids), ")")
}

// due is the condition of rows that are pending for at least leeway. One that will be written in the future was written before
// the clock was set back, nobody knows when.
func (s *relayStatements) due(leeway time.Duration) string {
	if leeway <= 0 {
		return "{dead_at} IS NULL"
	}
	return "{dead_at} IS NULL AND {created_at} NOT BETWEEN " + s.dialect.nowPlus(-leeway) + " AND " + s.dialect.nowPlus(leeway)
}

// deleteIDs removes rows. The ids go to PostgreSQL as one text in a statement that is always the same, and so prepared once; the
// others read them in the statement, which saves preparing it. MySQL has to look for each by itself: going through the ids as
// ranges it would lock the row behind each range too, and relays would wait for each other, in a circle at times.
func (s *relayStatements) deleteIDs(ids []int64) (statement string, args []any) {
	switch s.dialect {
	case PostgreSQL:
		return s.text("DELETE FROM {table} WHERE {id} = ANY({1}::text::bigint[])"), []any{"{" + list(ids) + "}"}
	case MySQL:
		return s.text("DELETE o FROM JSON_TABLE('[", list(ids), "]', '$[*]' COLUMNS (n BIGINT PATH '$')) AS d",
			" STRAIGHT_JOIN {table} AS o FORCE INDEX (PRIMARY) ON o.{id} = d.n"), nil
	}
	return s.text("DELETE FROM {table} WHERE {id} IN (", list(ids), ")"), nil
}

// bury makes a dead letter of a row; its parameters are the reason and the id, and on SQLite the relay that has to have claimed it.
func (s *relayStatements) bury() string {
	unclaim, claimed := "", ""
	if s.dialect == SQLite {
		unclaim, claimed = ", {claimed_by} = NULL, {claimed_until} = NULL", " AND {claimed_by} = "+s.dialect.parameter(3)
	}
	return s.text("UPDATE {table} SET {dead_at} = {now}, {reason} = {1}", unclaim, " WHERE {id} = {2} AND {dead_at} IS NULL", claimed)
}

// list is numbers with commas between them.
func list(ids []int64) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	return b.String()
}
