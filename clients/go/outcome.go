package stint

import (
	"errors"
	"fmt"
	"time"
)

const messageMax = 4000

// outcome is how a handler ended: the route that stores it, and the body of the request without the fence.
type outcome struct {
	route string
	body  map[string]any
}

var released = outcome{"release", map[string]any{}}

func outcomeOf(job *Job, result any, err error) outcome {
	var snooze *Snooze
	switch {
	case err == nil:
		return outcome{"complete", map[string]any{"result": result}}
	case errors.Is(job.Reason(), ErrInterrupted):
		return released
	case errors.As(err, &snooze):
		return outcome{"release", map[string]any{"delay": milliseconds(snooze.For)}}
	default:
		return failure(job, err)
	}
}

func failure(job *Job, err error) outcome {
	var fail *Fail
	var retry *RetryAfter
	reported := map[string]any{"message": cut(err.Error(), messageMax), "name": cut(fmt.Sprintf("%T", err), 200)}
	isCancelled := errors.Is(job.Reason(), ErrCancelled)
	body := map[string]any{"error": reported, "retryable": !isCancelled}
	if errors.As(err, &fail) {
		body["retryable"] = false
		if fail.Data != nil {
			reported["data"] = fail.Data
		}
		if fail.Code != "" {
			reported["id"] = cut(fail.Code, 200)
		}
	}
	if errors.As(err, &retry) {
		body["retryAfter"] = milliseconds(retry.After)
	}
	if errors.Is(err, ErrTimedOut) {
		reported["code"] = "timed out"
	}
	return outcome{"fail", body}
}

// insteadOf returns the failure to report if the result cannot be stored. False: the error has another cause.
func insteadOf(refused outcome, err error) (outcome, bool) {
	var problem *Problem
	var bad *unencodable
	isRefused := errors.As(err, &problem) && (problem.Status == 400 || problem.Status == 413)
	if refused.route != "complete" || !(isRefused || errors.As(err, &bad)) {
		return outcome{}, false
	}
	reported := map[string]any{"code": "missing output", "message": cut(err.Error(), messageMax)}
	return outcome{"fail", map[string]any{"retryable": false, "error": reported}}, true
}

func milliseconds(duration time.Duration) int64 { return duration.Milliseconds() }

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most]
}
