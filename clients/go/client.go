// Package stint is the client for Stint's HTTP API: it creates runs, waits for their results, and executes jobs as a
// worker. It uses only the standard library.
package stint

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const apiPath = "/api/v1"

// Client calls the HTTP API. It retries calls that are safe to repeat.
type Client struct {
	// URL is the URL of the server, such as http://127.0.0.1:7070.
	URL string
	// Token is the access token, if the server requires one.
	Token string
	// Retries is the maximum number of retries of one call. Every call is retried if the server is overloaded. A call
	// that is safe to repeat is also retried after a network error, or if the server is unavailable.
	Retries int
	// Timeout is how long each attempt of a call waits for the response.
	Timeout time.Duration
	// HTTP sends the requests.
	HTTP *http.Client
}

// NewClient returns a client with 3 retries and a timeout of 90 seconds.
func NewClient(url, token string) *Client {
	return &Client{URL: strings.TrimRight(url, "/"), Token: token, Retries: 3, Timeout: 90 * time.Second, HTTP: http.DefaultClient}
}

// RunRequest has the fields of a new run. Give either Type or Def.
type RunRequest struct {
	Type     string            `json:"type,omitempty"`
	Def      string            `json:"def,omitempty"`
	Input    any               `json:"input,omitempty"`
	DueTime  string            `json:"dueTime,omitempty"`
	Delay    string            `json:"delay,omitempty"`
	StartBy  string            `json:"startBy,omitempty"`
	Priority int               `json:"priority,omitempty"`
	Unique   any               `json:"unique,omitempty"`
	Tags     map[string]string `json:"tags,omitempty"`
	// IdempotencyKey is the key of the call: for a day, further calls with the same key create no other run. It is
	// ignored if the request has Unique. Default: a random key for each call.
	IdempotencyKey string `json:"-"`
}

// CreateRun creates a run. Retries of the call create no other run.
func (client *Client) CreateRun(ctx context.Context, request RunRequest) (*Run, error) {
	options := callOptions{}
	if request.Unique == nil {
		key := request.IdempotencyKey
		if key == "" {
			key = randomHex(16)
		}
		options = callOptions{isRepeatable: true, headers: map[string]string{"Idempotency-Key": key}}
	}
	var answer struct{ ID int64 }
	if err := client.call(ctx, "POST", "/runs", nil, request, &answer, options); err != nil {
		return nil, err
	}
	return client.Run(answer.ID), nil
}

// Run returns a handle for a run.
func (client *Client) Run(id int64) *Run { return &Run{ID: id, client: client} }

// Runs calls each with every matching run until it returns false. Runs are read page by page. The filter has the fields
// of the HTTP API, such as state.
func (client *Client) Runs(ctx context.Context, filter url.Values, each func(RunView) bool) error {
	query := url.Values{}
	for name, values := range filter {
		query[name] = values
	}
	for {
		var page struct {
			Items []RunView
			Next  *int64
		}
		if err := client.Call(ctx, "GET", "/runs", query, nil, &page); err != nil {
			return err
		}
		for _, run := range page.Items {
			if !each(run) {
				return nil
			}
		}
		if page.Next == nil {
			return nil
		}
		query.Set("after", strconv.FormatInt(*page.Next, 10))
	}
}

// Call calls any route, such as GET /defs, and decodes the answer. It returns a *Problem if the server refuses.
func (client *Client) Call(ctx context.Context, method, path string, query url.Values, body, answer any) error {
	return client.call(ctx, method, path, query, body, answer, callOptions{isRepeatable: method == "GET"})
}

type callOptions struct {
	isRepeatable bool
	headers      map[string]string
}

func (client *Client) call(
	ctx context.Context, method, path string, query url.Values, body, answer any, options callOptions,
) error {
	var text []byte
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return &unencodable{err}
		}
		text = encoded
	}
	for tries := 0; ; tries++ {
		err := client.send(ctx, method, path, query, text, answer, options.headers)
		if err == nil {
			return nil
		}
		wait := pause(tries, 10*time.Second)
		isRepeatable := options.isRepeatable
		var problem *Problem
		if errors.As(err, &problem) {
			// Status 429 means that the server refused the call before the call had any effect.
			isTransient := problem.Status == 502 || problem.Status == 503 || problem.Status == 504
			isRepeatable = problem.Status == 429 || (isRepeatable && isTransient)
			if problem.retryAfter > wait {
				wait = problem.retryAfter
			}
		}
		if !isRepeatable || tries >= client.Retries || !sleep(ctx, wait) {
			return err
		}
	}
}

func (client *Client) send(
	ctx context.Context, method, path string, query url.Values, body []byte, answer any, headers map[string]string,
) error {
	ctx, cancel := context.WithTimeout(ctx, client.Timeout)
	defer cancel()
	target := client.URL + apiPath + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if client.Token != "" {
		request.Header.Set("Authorization", "Bearer "+client.Token)
	}
	response, err := client.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		return problemOf(response, received)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(received, answer)
}

func problemOf(response *http.Response, body []byte) *Problem {
	problem := &Problem{}
	isProblem := strings.Contains(response.Header.Get("Content-Type"), "problem+json")
	if !isProblem || json.Unmarshal(body, problem) != nil {
		text := string(body)
		if len(text) > 200 {
			text = text[:200]
		}
		detail := fmt.Sprintf("the server responded with %d: %s", response.StatusCode, text)
		problem = &Problem{Status: response.StatusCode, Code: "http", Detail: detail}
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		problem.retryAfter = time.Duration(seconds) * time.Second
	}
	return problem
}

// unencodable is the error of a value that JSON cannot hold.
type unencodable struct{ error }

func isFinal(err error) bool {
	var problem *Problem
	return errors.As(err, &problem) && problem.IsFinal()
}

// pause returns how long to wait after so many failures in a row.
func pause(failures int, most time.Duration) time.Duration {
	wait := most
	if failures < 6 {
		wait = 200 * time.Millisecond << failures
	}
	if wait > most {
		wait = most
	}
	return time.Duration(float64(wait) * (0.5 + mathrand.Float64()/2))
}

// sleep reports whether the wait has passed before the context was done.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func randomHex(bytes int) string {
	random := make([]byte, bytes)
	if _, err := rand.Read(random); err != nil {
		panic(err)
	}
	return hex.EncodeToString(random)
}
