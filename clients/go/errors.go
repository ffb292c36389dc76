package stint

import (
	"errors"
	"fmt"
	"time"
)

// Problem is the answer of a server that refused a request. Code is the code of the refusal.
type Problem struct {
	Status     int            `json:"status"`
	Code       string         `json:"code"`
	Detail     string         `json:"detail"`
	About      map[string]any `json:"about"`
	retryAfter time.Duration
}

func (problem *Problem) Error() string { return problem.Detail }

// IsFinal reports whether the same request would be refused again.
func (problem *Problem) IsFinal() bool {
	return problem.Status < 500 && problem.Status != 408 && problem.Status != 429
}

// Fail is returned by a handler: the job fails and is not retried. Code is your own code of the error.
type Fail struct {
	Message string
	Code    string
	Data    any
}

func (fail *Fail) Error() string { return fail.Message }

// RetryAfter is returned by a handler: the attempt fails. If attempts are left, the job is retried after the wait.
type RetryAfter struct {
	After   time.Duration
	Message string
}

func (retry *RetryAfter) Error() string {
	if retry.Message != "" {
		return retry.Message
	}
	return fmt.Sprintf("retry after %v", retry.After)
}

// Snooze is returned by a handler: the job is due again after the wait, and the attempt does not count.
type Snooze struct{ For time.Duration }

func (snooze *Snooze) Error() string { return fmt.Sprintf("snoozed for %v", snooze.For) }

// The reasons why a job is aborted: what Job.Reason returns is one of them, possibly with more text.
var (
	ErrCancelled   = errors.New("the job was cancelled")
	ErrTimedOut    = errors.New("the attempt took longer than its timeout")
	ErrLeaseLost   = errors.New("this worker no longer holds the job")
	ErrInterrupted = errors.New("the worker stops")
)
