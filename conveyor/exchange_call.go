package conveyor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Exchange acknowledges a batch of attempts and reserves the next, in one script. Reservations are in start order. A call
// whose reply was lost is repeated with the same number.
func (c *Client) Exchange(ctx context.Context, r ExchangeRequest) (ExchangeReply, error) {
	if r.Caller == "" {
		r.Caller = r.Worker
	}
	if err := r.validate(); err != nil {
		return ExchangeReply{}, fmt.Errorf("exchange: %w", err)
	}
	reply, err := c.run(ctx, exchangeScript, r.args()...)
	if err != nil {
		return ExchangeReply{}, err
	}
	out, err := parseExchange(reply)
	if err != nil {
		return ExchangeReply{}, fmt.Errorf("exchange: %w", err)
	}
	c.warnDamaged(out.Damaged)
	c.happened(AckOutdated, len(out.Outdated))
	c.happened(LeaseExtended, extended(r.Done, out.Outdated))
	c.happened(JobExpired, out.Expired)
	c.happened(JobObsolete, out.Obsolete)
	return out, nil
}

// extended counts the leases that were extended.
func extended(done []Ack, outdated []int) (n int) {
	for i, a := range done {
		if a.Verdict == VerdictExtend && !slices.Contains(outdated, i) {
			n++
		}
	}
	return n
}

func (r *ExchangeRequest) validate() error {
	var problems []error
	if !validName(r.Caller) || r.Worker != "" && !validName(r.Worker) {
		problems = append(problems, fmt.Errorf("caller %q, worker %q: %w", r.Caller, r.Worker, ErrUUID))
	}
	if r.Number < 1 {
		problems = append(problems, fmt.Errorf("number %d: calls are numbered from 1", r.Number))
	}
	if r.Want < 0 || r.Want > MaxBatch || len(r.Done) > MaxBatch {
		problems = append(problems, fmt.Errorf("%d wanted, %d done, the limit of each is %d: %w", r.Want, len(r.Done), MaxBatch, ErrTooLarge))
	}
	if r.Worker == "" && r.Want > 0 && r.Lease < time.Millisecond {
		problems = append(problems, errors.New("a reservation without a worker needs a Lease"))
	}
	if r.Holder != "" && (!validName(r.Holder) || r.Worker != "") {
		problems = append(problems, fmt.Errorf("holder %q: %w, and not beside a worker", r.Holder, ErrUUID))
	}
	for _, q := range r.Queues {
		if !validName(q) {
			problems = append(problems, fmt.Errorf("%w: %q", ErrQueueName, q))
		}
	}
	for i, a := range r.Done {
		if !validName(a.UUID) || a.Fence < 1 || int(a.Verdict) >= len(verdictLetters) {
			problems = append(problems, fmt.Errorf("done %d: uuid %q, fence %d, verdict %d: %w", i, a.UUID, a.Fence, a.Verdict, ErrUUID))
		}
		if len(a.Result) > MaxResult {
			problems = append(problems, fmt.Errorf("done %d: result of %d bytes, the limit is %d: %w", i, len(a.Result), MaxResult, ErrTooLarge))
		}
		if err := checkSync(a.Sync); err != nil {
			problems = append(problems, fmt.Errorf("done %d: %w", i, err))
		}
	}
	return errors.Join(problems...)
}

const verdictLetters = "DTFHBNWL" // by Verdict

func (r *ExchangeRequest) args() []any {
	args := make([]any, 0, 6+len(r.Queues)+4*len(r.Done))
	args = append(args, r.Caller, r.Number, r.Worker, r.Lease.Milliseconds(), r.Want, len(r.Queues))
	if r.Holder != "" {
		args[3] = fmt.Sprint(r.Lease.Milliseconds(), " ", r.Holder)
	}
	for _, q := range r.Queues {
		args = append(args, q)
	}
	for i := range r.Done {
		a := &r.Done[i]
		verdict := verdictLetters[a.Verdict : a.Verdict+1]
		if a.Delay > 0 || a.Failure != "" || a.Result != nil || a.Sync != nil {
			verdict += strconv.FormatInt(int64((max(a.Delay, 0)+time.Millisecond-1)/time.Millisecond), 10) + ":"
		}
		if a.Failure != "" {
			verdict += "f"
		}
		if a.Result != nil {
			verdict += "r"
		}
		if a.Sync != nil {
			verdict += "s"
		}
		args = append(args, a.UUID, a.Fence, verdict)
		if a.Failure != "" {
			args = append(args, bounded(a.Failure, MaxFailure))
		}
		if a.Result != nil {
			args = append(args, a.Result)
		}
		if a.Sync != nil {
			args = append(args, packLabels(a.Sync))
		}
	}
	return args
}

// bounded cuts a text to n bytes, in its middle: what matters of a stack or an output stands at its ends.
func bounded(s string, n int) string {
	const gap = "\n...\n"
	if len(s) <= n {
		return s
	}
	head := (n - len(gap)) / 2
	return strings.ToValidUTF8(s[:head]+gap+s[len(s)-(n-len(gap)-head):], "")
}

func parseExchange(reply any) (ExchangeReply, error) {
	parts := texts(reply)
	if len(parts) == 0 {
		return ExchangeReply{}, errors.New("empty reply")
	}
	lines := strings.Split(parts[0], "\n")
	head := strings.Fields(lines[0])
	if len(head) != 5 || len(lines) < 3 {
		return ExchangeReply{}, fmt.Errorf("unreadable reply %q", parts[0])
	}
	out := ExchangeReply{
		Now: time.UnixMilli(integer(head[0])), Next: time.Duration(integer(head[1])) * time.Millisecond, More: head[2] == "1",
		Expired: int(integer(head[3])), Obsolete: int(integer(head[4])),
	}
	if lines[1] != "" {
		for part := range strings.SplitSeq(lines[1], ",") {
			out.Outdated = append(out.Outdated, int(integer(part)))
		}
	}
	if lines[2] != "" {
		out.Damaged = strings.Split(lines[2], ",")
	}
	for i, line := range lines[3:] {
		f := strings.Fields(line)
		if len(f) < 5 || 1+i >= len(parts) || parts[1+i] == "" {
			continue // not held any more
		}
		job := &wire.Job{}
		if err := proto.Unmarshal([]byte(parts[1+i]), job); err != nil {
			out.Broken = append(out.Broken, Ack{UUID: f[0], Fence: integer(f[1]), Verdict: VerdictFailed,
				Failure: "the job's bytes cannot be decoded: " + err.Error()})
			continue
		}
		r := Reservation{Job: job, Fence: integer(f[1]), Attempts: int(integer(f[2])), Lost: int(integer(f[3])), Opening: integer(f[4])}
		if len(f) > 5 {
			most, used, _ := strings.Cut(f[5], ":")
			r.MaxCycles, r.Cycles = int(integer(most)), int(integer(used))
		}
		out.Reserved = append(out.Reserved, r)
	}
	for _, part := range parts[min(1+len(lines[3:]), len(parts)):] {
		uuid, packed, _ := strings.Cut(part, " ")
		for i := range out.Reserved {
			if r := &out.Reserved[i]; r.Job.GetUuid() == uuid {
				r.Sync = unpackLabels(packed)
			}
		}
	}
	return out, nil
}

// integer reads a number that a script wrote.
func integer(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
