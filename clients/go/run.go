package stint

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Run is a handle for a run on a server.
type Run struct {
	ID     int64
	client *Client
}

// RunView has the most used fields of a run. All is the whole answer of the server.
type RunView struct {
	ID       int64             `json:"id"`
	Type     string            `json:"type"`
	State    string            `json:"state"`
	Standing string            `json:"standing"`
	Attempt  int               `json:"attempt"`
	Tags     map[string]string `json:"tags"`
	Input    json.RawMessage   `json:"input"`
	Result   json.RawMessage   `json:"result"`
	Error    *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Cancel *struct {
		Why string `json:"why"`
	} `json:"cancel"`
	All json.RawMessage `json:"-"`
}

// UnmarshalJSON reads the fields, and stores the text in All.
func (view *RunView) UnmarshalJSON(text []byte) error {
	type fields RunView
	if err := json.Unmarshal(text, (*fields)(view)); err != nil {
		return err
	}
	view.All = append(json.RawMessage(nil), text...)
	return nil
}

// Get reads the run.
func (run *Run) Get(ctx context.Context) (RunView, error) {
	var view RunView
	err := run.client.Call(ctx, "GET", run.path(""), nil, nil, &view)
	return view, err
}

// Wait waits for the result. It returns a *Problem if the run fails or is cancelled, or if the context ends first.
func (run *Run) Wait(ctx context.Context) (json.RawMessage, error) {
	for wait := 50 * time.Millisecond; ; wait = wait * 3 / 2 {
		view, err := run.Get(ctx)
		if err == nil && view.State == "ended" {
			return resultOf(view)
		}
		if wait > 2*time.Second {
			wait = 2 * time.Second
		}
		if ctx.Err() != nil || (err == nil && !sleep(ctx, wait)) {
			return nil, &Problem{Status: 408, Code: "too.late", Detail: fmt.Sprintf("run %d did not end in time", run.ID)}
		}
		if err != nil {
			return nil, err
		}
	}
}

// Cancel asks the run to stop.
func (run *Run) Cancel(ctx context.Context, why string) (RunView, error) {
	return run.act(ctx, "/cancel", why)
}

// Retry runs an ended run again.
func (run *Run) Retry(ctx context.Context, why string) (RunView, error) {
	return run.act(ctx, "/retry", why)
}

func (run *Run) act(ctx context.Context, action, why string) (RunView, error) {
	body := map[string]string{}
	if why != "" {
		body["why"] = why
	}
	var view RunView
	err := run.client.Call(ctx, "POST", run.path(action), nil, body, &view)
	return view, err
}

func (run *Run) path(action string) string { return fmt.Sprintf("/runs/%d%s", run.ID, action) }

func resultOf(view RunView) (json.RawMessage, error) {
	if view.Standing == "succeeded" {
		return view.Result, nil
	}
	reason := view.Standing
	if view.Error != nil {
		reason = view.Error.Message
	} else if view.Cancel != nil && view.Cancel.Why != "" {
		reason = view.Cancel.Why
	}
	detail := fmt.Sprintf("run %d %s: %s", view.ID, view.Standing, reason)
	return nil, &Problem{Status: 409, Code: "run." + view.Standing, Detail: detail}
}
