// Command driver drives this client for the protocol suite: it reads commands as JSON lines, and writes answers and
// events as JSON lines.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"stint"
)

type command struct {
	N         int
	Do        string
	ID        int64
	Job       int64
	Request   json.RawMessage
	Key       string
	Filter    map[string]any
	Why       string
	TimeoutMs int64
	Types     []string
	Slots     int
	LeaseMs   int64
	DrainMs   *int64
	Versions  []struct {
		Type     string
		From, To int
	}
}

type input struct {
	Do       string
	Value    any
	Message  string
	Code     string
	Data     any
	Ms       int64
	Children []stint.NewChild
}

var (
	client   = stint.NewClient(os.Getenv("STINT_URL"), os.Getenv("STINT_TOKEN"))
	writing  sync.Mutex
	opened   sync.Map
	stopWork context.CancelFunc
	exit     = make(chan struct{})
)

func main() {
	client.Timeout = 60 * time.Second
	go readCommands()
	<-exit
}

func readCommands() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var read command
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			panic(err)
		}
		if read.Do == "work" {
			startWork(read)
			write(map[string]any{"n": read.N, "value": nil})
			continue
		}
		go answer(read)
	}
	close(exit)
}

func answer(read command) {
	value, err := execute(read)
	if err != nil {
		write(map[string]any{"n": read.N, "problem": problemOf(err)})
		return
	}
	write(map[string]any{"n": read.N, "value": value})
}

func execute(read command) (any, error) {
	ctx := context.Background()
	switch read.Do {
	case "create":
		var request stint.RunRequest
		if err := json.Unmarshal(read.Request, &request); err != nil {
			return nil, err
		}
		request.IdempotencyKey = read.Key
		run, err := client.CreateRun(ctx, request)
		if err != nil {
			return nil, err
		}
		return map[string]int64{"id": run.ID}, nil
	case "get":
		view, err := client.Run(read.ID).Get(ctx)
		return view.All, err
	case "list":
		ids := []int64{}
		err := client.Runs(ctx, values(read.Filter), func(run stint.RunView) bool {
			ids = append(ids, run.ID)
			return true
		})
		return ids, err
	case "cancel":
		view, err := client.Run(read.ID).Cancel(ctx, read.Why)
		return view.All, err
	case "wait":
		ctx, stop := context.WithTimeout(ctx, time.Duration(read.TimeoutMs)*time.Millisecond)
		defer stop()
		return client.Run(read.ID).Wait(ctx)
	case "open":
		close(openingOf(read.Job))
	case "stop":
		stopWork()
	}
	return nil, nil
}

func startWork(read command) {
	// SIGTERM ends the process after the drain; the command stop does not.
	signalled, stopSignals := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	ctx, stop := context.WithCancel(signalled)
	stopWork = stop
	handlers := map[string]stint.Handler{}
	for _, name := range read.Types {
		handlers[name] = handle
	}
	versions := map[string]stint.Versions{}
	for _, known := range read.Versions {
		versions[known.Type] = stint.Versions{From: known.From, To: known.To}
	}
	worker := &stint.Worker{
		Client: client, Handlers: handlers, Slots: read.Slots, Lease: time.Duration(read.LeaseMs) * time.Millisecond,
		Versions: versions,
	}
	if read.DrainMs != nil {
		worker.Drain = time.Duration(*read.DrainMs) * time.Millisecond
	}
	go func() {
		err := worker.Run(ctx)
		isSignalled := signalled.Err() != nil
		stopSignals()
		write(map[string]any{"event": "stopped", "problem": problemOf(err)})
		if isSignalled {
			close(exit)
		}
	}()
}

func handle(ctx context.Context, job *stint.Job) (any, error) {
	write(map[string]any{"event": "started", "job": job.ID, "attempt": job.Attempt, "phase": job.Phase})
	var given input
	if err := json.Unmarshal(job.Input, &given); err != nil {
		return nil, err
	}
	wait := time.Duration(given.Ms) * time.Millisecond
	switch given.Do {
	case "return":
		return given.Value, nil
	case "hold", "ignore":
		return hold(ctx, job, given.Do == "ignore")
	case "throw":
		return nil, errors.New(given.Message)
	case "fail":
		return nil, &stint.Fail{Message: given.Message, Code: given.Code, Data: given.Data}
	case "retryAfter":
		return nil, &stint.RetryAfter{After: wait}
	case "snooze":
		return nil, &stint.Snooze{For: wait}
	case "deep":
		return json.RawMessage(strings.Repeat("[", 500) + strings.Repeat("]", 500)), nil
	case "report":
		stage := stint.Step{"kind": "startStage", "description": "parts", "total": 2}
		err := job.Progress(ctx, stage, stint.Step{"kind": "startItem"}, stint.Step{"kind": "completeItem"})
		if err != nil {
			return nil, err
		}
		return nil, job.Log(ctx, "warn", "half")
	case "children":
		if len(job.Children) == 0 {
			return nil, job.CreateChildren(ctx, given.Children)
		}
		results := [][]any{}
		for _, child := range job.Children {
			results = append(results, []any{child.Key, child.Fate, child.Result})
		}
		return results, nil
	}
	return nil, fmt.Errorf("unknown act: %s", given.Do)
}

// hold waits until the suite opens the job, or it is aborted.
func hold(ctx context.Context, job *stint.Job, ignoresAbort bool) (any, error) {
	select {
	case <-openingOf(job.ID):
		return "opened", nil
	case <-ctx.Done():
	}
	write(map[string]any{"event": "aborted", "job": job.ID, "reason": nameOf(job.Reason())})
	if !ignoresAbort {
		return nil, job.Reason()
	}
	<-openingOf(job.ID)
	return "opened", nil
}

func openingOf(job int64) chan struct{} {
	opening, _ := opened.LoadOrStore(job, make(chan struct{}))
	return opening.(chan struct{})
}

func nameOf(reason error) string {
	names := map[error]string{
		stint.ErrCancelled: "Cancelled", stint.ErrTimedOut: "TimedOut", stint.ErrLeaseLost: "LeaseLost",
		stint.ErrInterrupted: "Interrupted",
	}
	for known, name := range names {
		if errors.Is(reason, known) {
			return name
		}
	}
	return fmt.Sprint(reason)
}

func problemOf(err error) any {
	if err == nil {
		return nil
	}
	var problem *stint.Problem
	if errors.As(err, &problem) {
		return map[string]any{"status": problem.Status, "code": problem.Code, "message": problem.Detail}
	}
	return map[string]any{"status": 0, "code": fmt.Sprintf("%T", err), "message": err.Error()}
}

// values joins lists with commas; tags, which may contain commas, get a parameter each.
func values(filter map[string]any) url.Values {
	query := url.Values{}
	for name, value := range filter {
		list, isList := value.([]any)
		if !isList {
			query.Set(name, fmt.Sprint(value))
			continue
		}
		texts := []string{}
		for _, each := range list {
			texts = append(texts, fmt.Sprint(each))
		}
		if name == "tag" {
			query[name] = texts
		} else {
			query.Set(name, strings.Join(texts, ","))
		}
	}
	return query
}

func write(line map[string]any) {
	writing.Lock()
	defer writing.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
		panic(err)
	}
}
