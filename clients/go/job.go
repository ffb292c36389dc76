package stint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Job is a job that a worker holds.
type Job struct {
	ID    int64  `json:"id"`
	Fence int64  `json:"fence"`
	Type  string `json:"type"`
	// TypeVersion is the version of the type for which Input was made.
	TypeVersion int               `json:"typeVersion"`
	Def         string            `json:"def"`
	Key         string            `json:"key"`
	Phase       string            `json:"phase"`
	Input       json.RawMessage   `json:"input"`
	Attempt     int               `json:"attempt"`
	Tags        map[string]string `json:"tags"`
	DueAt       int64             `json:"dueAt"`
	TimeoutMs   *int64            `json:"timeoutMs"`
	// Children are the ended children, when the job is claimed again after them.
	Children []Child `json:"children"`

	client *Client
	cancel context.CancelFunc
	mutex  sync.Mutex
	reason error
	isLost bool
	// isReported: an outcome was sent or is being sent; over is closed when that is done.
	isReported bool
	over       chan struct{}
}

// Child is an ended child of a job.
type Child struct {
	ID     int64           `json:"id"`
	Key    string          `json:"key"`
	Fate   string          `json:"fate"`
	Input  json.RawMessage `json:"input"`
	Result json.RawMessage `json:"result"`
}

// NewChild has the fields of a child to create.
type NewChild struct {
	Type  string            `json:"type"`
	Key   string            `json:"key,omitempty"`
	Input any               `json:"input,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
}

// Step is a step of the progress tree, such as {"kind": "startStage", "description": "parts", "total": 5}.
type Step map[string]any

// Reason returns why the context of the handler was cancelled: ErrCancelled, ErrTimedOut, ErrLeaseLost or
// ErrInterrupted. Nil: it was not.
func (job *Job) Reason() error {
	job.mutex.Lock()
	defer job.mutex.Unlock()
	return job.reason
}

// Progress reports progress.
func (job *Job) Progress(ctx context.Context, steps ...Step) error {
	return job.send(ctx, "progress", map[string]any{"steps": steps}, nil, false)
}

// Log writes a line at a level: debug, info, warn or error.
func (job *Job) Log(ctx context.Context, level, text string) error {
	line := map[string]string{"level": level, "text": text}
	return job.send(ctx, "log", map[string]any{"lines": []any{line}}, nil, false)
}

// CreateChildren creates children, which run when this job completes. The job is then claimed again, with Children.
func (job *Job) CreateChildren(ctx context.Context, children []NewChild) error {
	return job.send(ctx, "children", map[string]any{"children": children}, nil, false)
}

func (job *Job) send(ctx context.Context, action string, body map[string]any, answer any, isRepeatable bool) error {
	fenced := map[string]any{"fence": job.Fence}
	for name, value := range body {
		fenced[name] = value
	}
	path := fmt.Sprintf("/work/%d/%s", job.ID, action)
	return job.client.call(ctx, "POST", path, nil, fenced, answer, callOptions{isRepeatable: isRepeatable})
}

// abort cancels the context of the handler. Only the first reason counts.
func (job *Job) abort(reason error) {
	job.mutex.Lock()
	job.isLost = job.isLost || errors.Is(reason, ErrLeaseLost)
	if job.reason == nil {
		job.reason = reason
	}
	job.mutex.Unlock()
	job.cancel()
}

func (job *Job) lost() bool {
	job.mutex.Lock()
	defer job.mutex.Unlock()
	return job.isLost
}

// isFirstReport reports whether no outcome was sent before.
func (job *Job) isFirstReport() bool {
	job.mutex.Lock()
	defer job.mutex.Unlock()
	isFirst := !job.isReported
	job.isReported = true
	return isFirst
}
