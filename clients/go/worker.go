package stint

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"
	"time"
)

const (
	claimWait = 20 * time.Second
	// How long a worker that stops waits for handlers that it has aborted, before it releases their jobs.
	interruptedWait = 5 * time.Second
	longestPause    = 5 * time.Second
)

// Handler executes a job. The value that it returns is the result. The context is cancelled if the job is cancelled,
// lost or timed out, or if the worker stops; Job.Reason says which.
type Handler func(ctx context.Context, job *Job) (any, error)

// Versions are all versions of a type from From to To.
type Versions struct{ From, To int }

// Worker claims jobs, keeps their leases by heartbeats, executes handlers, and reports how they ended.
type Worker struct {
	Client   *Client
	Handlers map[string]Handler
	// Name is a unique name of the worker. Default: made from host name, process id and a random number.
	Name string
	// Slots is the number of jobs that the worker executes at the same time, at most 100. Default: 1.
	Slots int
	// Lease is how long the worker holds a job after its last heartbeat. Default: 30 seconds.
	Lease time.Duration
	// Drain is how long a worker that stops waits for handlers before it aborts them. Default: 20 seconds.
	Drain time.Duration
	// Versions are the versions of inputs that the worker knows, by type. Of other types, it gets jobs of the version
	// with which new runs are created.
	Versions map[string]Versions
	// OnError is called with errors after which the worker continues. Default: writes them to the log.
	OnError func(error)

	mutex sync.Mutex
	held  map[*Job]struct{}
	freed chan struct{}
}

// Run executes jobs until the context is done, then drains: it claims no more jobs and waits for the handlers. It
// returns a *Problem if the server refuses the worker, such as for a wrong token.
func (worker *Worker) Run(ctx context.Context) error {
	worker.setDefaults()
	err := worker.claimUntilDone(ctx)
	worker.drain()
	return err
}

func (worker *Worker) setDefaults() {
	if worker.Name == "" {
		host, _ := os.Hostname()
		worker.Name = fmt.Sprintf("%s-%d-%s", cut(host, 40), os.Getpid(), randomHex(4))
	}
	if worker.Slots == 0 {
		worker.Slots = 1
	}
	if worker.Lease == 0 {
		worker.Lease = 30 * time.Second
	}
	if worker.Drain == 0 {
		worker.Drain = 20 * time.Second
	}
	if worker.OnError == nil {
		worker.OnError = func(err error) { log.Printf("stint: %v", err) }
	}
	worker.held = map[*Job]struct{}{}
	worker.freed = make(chan struct{}, 1)
}

func (worker *Worker) claimUntilDone(ctx context.Context) error {
	for failures := 0; ctx.Err() == nil; {
		limit := worker.Slots - len(worker.allHeld())
		if limit == 0 {
			worker.waitForSlot(ctx)
			continue
		}
		askedAt := time.Now()
		jobs, err := worker.claim(ctx, limit)
		switch {
		case err == nil:
			failures = 0
		case ctx.Err() != nil:
			return nil
		case isFinal(err):
			return err
		default:
			worker.OnError(fmt.Errorf("cannot claim jobs: %w", err))
			sleep(ctx, pause(failures, longestPause))
			failures++
		}
		for _, job := range jobs {
			worker.start(job, askedAt)
		}
	}
	return nil
}

func (worker *Worker) claim(ctx context.Context, limit int) ([]*Job, error) {
	types := make([]string, 0, len(worker.Handlers))
	for name := range worker.Handlers {
		types = append(types, name)
	}
	body := map[string]any{
		"worker": worker.Name, "types": types, "limit": limit,
		"leaseMs": milliseconds(worker.Lease), "waitMs": milliseconds(claimWait),
	}
	versions := make([]map[string]any, 0, len(worker.Versions))
	for name, known := range worker.Versions {
		versions = append(versions, map[string]any{"type": name, "from": known.From, "to": known.To})
	}
	if len(versions) > 0 {
		body["versions"] = versions
	}
	var answer struct{ Items []*Job }
	err := worker.Client.Call(ctx, "POST", "/work/claim", nil, body, &answer)
	return answer.Items, err
}

func (worker *Worker) start(job *Job, askedAt time.Time) {
	// The handler's context does not end with that of Run: handlers may finish while the worker drains.
	ctx, cancel := context.WithCancel(context.Background())
	job.client, job.cancel, job.over = worker.Client, cancel, make(chan struct{})
	worker.mutex.Lock()
	worker.held[job] = struct{}{}
	worker.mutex.Unlock()
	go worker.execute(ctx, job, askedAt)
}

func (worker *Worker) execute(ctx context.Context, job *Job, askedAt time.Time) {
	defer worker.free(job)
	since, isHeld := worker.confirmLease(ctx, job, askedAt)
	if !isHeld {
		if !job.lost() {
			worker.report(job, outcomeOf(job, nil, job.Reason()))
		}
		return
	}
	go worker.keepLease(job, since)
	if job.TimeoutMs != nil {
		timer := time.AfterFunc(time.Duration(*job.TimeoutMs)*time.Millisecond, func() { worker.timeOut(job) })
		defer timer.Stop()
	}
	result, err := call(ctx, worker.Handlers[job.Type], job)
	worker.report(job, outcomeOf(job, result, err))
}

// call turns a panic of the handler into an error.
func call(ctx context.Context, handler Handler, job *Job) (result any, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the handler panicked: %v", panicked)
		}
	}()
	return handler(ctx, job)
}

func (worker *Worker) timeOut(job *Job) {
	err := fmt.Errorf("%w: %d ms", ErrTimedOut, *job.TimeoutMs)
	job.abort(err)
	worker.report(job, outcomeOf(job, nil, err))
}

// report sends the first outcome of a job; later ones, of a handler that ends after its timeout, are dropped.
func (worker *Worker) report(job *Job, outcome outcome) {
	if !job.isFirstReport() {
		<-job.over
		return
	}
	defer close(job.over)
	worker.send(job, outcome)
}

// send sends an outcome until the server has it or the lease is lost: without it, the job would be executed again.
func (worker *Worker) send(job *Job, outcome outcome) {
	for failures := 0; !job.lost(); failures++ {
		err := job.send(context.Background(), outcome.route, outcome.body, nil, true)
		if err == nil {
			return
		}
		if instead, isRefused := insteadOf(outcome, err); isRefused {
			worker.send(job, instead)
			return
		}
		worker.OnError(fmt.Errorf("cannot report the outcome of job %d: %w", job.ID, err))
		if isFinal(err) {
			return
		}
		time.Sleep(pause(failures, longestPause))
	}
}

// confirmLease confirms before the handler starts that the job is held. askedAt is when the claim was sent, so that the
// lease began later. While less than two thirds of a lease have passed since then, the lease is safe. Otherwise the answer
// may have come after the lease, and a heartbeat is sent. It returns the time since which the lease certainly runs; false
// if the job is lost or aborted.
func (worker *Worker) confirmLease(ctx context.Context, job *Job, askedAt time.Time) (time.Time, bool) {
	for since := askedAt; ctx.Err() == nil; {
		if time.Since(since) < worker.Lease*2/3 {
			return since, true
		}
		sentAt := time.Now()
		cancel, err := worker.beat(job)
		switch {
		case err == nil:
			since = sentAt
			if cancel != nil {
				job.abort(fmt.Errorf("%w: %s", ErrCancelled, *cancel))
			}
		case isFinal(err):
			job.abort(fmt.Errorf("%w: %v", ErrLeaseLost, err))
		default:
			worker.OnError(fmt.Errorf("cannot send a heartbeat for job %d: %w", job.ID, err))
			sleep(ctx, worker.Lease/3)
		}
	}
	return time.Time{}, false
}

// keepLease sends three heartbeats per lease until the job is over or lost. since is the time since which the lease
// certainly runs.
func (worker *Worker) keepLease(job *Job, since time.Time) {
	pause := time.Until(since.Add(worker.Lease * 2 / 3))
	if pause > worker.Lease/3 {
		pause = worker.Lease / 3
	}
	for leaseUntil := since.Add(worker.Lease); ; pause = worker.Lease / 3 {
		beat := time.NewTimer(pause)
		select {
		case <-job.over:
			beat.Stop()
			return
		case <-beat.C:
		}
		sentAt := time.Now()
		if sentAt.After(leaseUntil) {
			job.abort(fmt.Errorf("%w: no heartbeat has reached the server in time", ErrLeaseLost))
			return
		}
		cancel, err := worker.beat(job)
		switch {
		case err == nil:
			leaseUntil = sentAt.Add(worker.Lease)
			if cancel != nil {
				job.abort(fmt.Errorf("%w: %s", ErrCancelled, *cancel))
			}
		case isFinal(err):
			job.abort(fmt.Errorf("%w: %v", ErrLeaseLost, err))
			return
		default:
			worker.OnError(fmt.Errorf("cannot send a heartbeat for job %d: %w", job.ID, err))
		}
	}
}

// beat extends the lease. It returns the reason of a cancel; nil: the job was not cancelled.
func (worker *Worker) beat(job *Job) (*string, error) {
	ctx, stop := context.WithTimeout(context.Background(), worker.Lease/3)
	defer stop()
	var answer struct {
		IsCancelled bool
		Cancel      *struct{ Why string }
	}
	err := job.send(ctx, "heartbeat", map[string]any{"leaseMs": milliseconds(worker.Lease)}, &answer, true)
	if err != nil || !answer.IsCancelled {
		return nil, err
	}
	why := ""
	if answer.Cancel != nil {
		why = answer.Cancel.Why
	}
	return &why, nil
}

func (worker *Worker) drain() {
	worker.waitForHandlers(worker.Drain)
	for _, job := range worker.allHeld() {
		job.abort(ErrInterrupted)
	}
	worker.waitForHandlers(interruptedWait)
	for _, job := range worker.allHeld() {
		worker.report(job, released)
	}
}

func (worker *Worker) waitForHandlers(atMost time.Duration) {
	ctx, stop := context.WithTimeout(context.Background(), atMost)
	defer stop()
	for len(worker.allHeld()) > 0 && ctx.Err() == nil {
		worker.waitForSlot(ctx)
	}
}

func (worker *Worker) waitForSlot(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-worker.freed:
	}
}

func (worker *Worker) allHeld() []*Job {
	worker.mutex.Lock()
	defer worker.mutex.Unlock()
	jobs := make([]*Job, 0, len(worker.held))
	for job := range worker.held {
		jobs = append(jobs, job)
	}
	return jobs
}

func (worker *Worker) free(job *Job) {
	job.cancel()
	worker.mutex.Lock()
	delete(worker.held, job)
	worker.mutex.Unlock()
	select {
	case worker.freed <- struct{}{}:
	default:
	}
}
