"""Executes jobs of the type resize until SIGTERM; or, with the word create, creates one and waits for its result."""
import os
import sys

from stint_client import Client, Fail, RetryAfter, Worker

client = Client(os.environ.get("STINT_URL", "http://127.0.0.1:7070"), os.environ.get("STINT_TOKEN"))


def resize(job):
    if "file" not in job.input:
        raise Fail("the input has no file")  # not retried
    if job.attempt == 1 and job.input.get("isBusy"):
        raise RetryAfter(1)  # seconds
    job.log(f"resizing {job.input['file']}")
    job.sleep(0.01)  # the work; raises if the job is cancelled, or if another worker has it
    return {"resized": job.input["file"]}


if __name__ == "__main__":
    if "create" in sys.argv:
        run = client.create_run("resize", {"file": "cat.jpg"}, tags={"shop": "zurich"})
        print(run.wait(timeout=60))
    else:
        Worker(client, {"resize": resize}, slots=4).run()
