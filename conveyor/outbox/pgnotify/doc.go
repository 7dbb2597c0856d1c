// Package pgnotify wakes outbox relays on PostgreSQL, so that a commit is on the queue in milliseconds and not at the next
// interval:
//
//	listener, err := pgnotify.New("postgres://shop@db/shop", table, pgnotify.Options{})
//	...
//	relay, err := outbox.NewRelay(db, table, client, outbox.RelayOptions{Wake: listener.Wake})
//
// It holds one connection of its own, on which it says LISTEN; the trigger that Table.Migrate makes says NOTIFY. A PgBouncer that
// pools transactions or statements passes no notifications on: give it the address of the server itself.
//
// It never reads or writes rows, and a relay needs it for nothing but speed.
package pgnotify
