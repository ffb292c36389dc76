// Command example executes jobs of the type resize until SIGTERM; or, with the word create, creates one and waits for
// its result.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"stint"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	client := stint.NewClient("http://127.0.0.1:7070", os.Getenv("STINT_TOKEN"))
	if len(os.Args) > 1 && os.Args[1] == "create" {
		create(ctx, client)
		return
	}
	worker := &stint.Worker{Client: client, Slots: 4, Handlers: map[string]stint.Handler{"resize": resize}}
	if err := worker.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

func create(ctx context.Context, client *stint.Client) {
	run, err := client.CreateRun(ctx, stint.RunRequest{Type: "resize", Input: map[string]string{"file": "cat.jpg"}})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	result, err := run.Wait(ctx)
	fmt.Println(string(result), err)
}

func resize(ctx context.Context, job *stint.Job) (any, error) {
	var input struct{ File string }
	if err := json.Unmarshal(job.Input, &input); err != nil || input.File == "" {
		return nil, &stint.Fail{Message: "the input has no file"} // not retried
	}
	if err := job.Log(ctx, "info", "resizing "+input.File); err != nil {
		return nil, err
	}
	select {
	case <-time.After(10 * time.Millisecond): // the work
	case <-ctx.Done(): // the job was cancelled, or another worker has it
		return nil, job.Reason()
	}
	return map[string]string{"resized": input.File}, nil
}
