// The reply of every command for a job in every state, derived by hand from the specification of Bedrock::Jobs.
//
// A word in capitals: 200 OK, and the job is then in that state. The other words stand for these replies:

export const answers = {
  ok: '200 OK, and the job is as it was',
  gone: '200 OK, and the job is gone',
  same: '200 OK with the jobID of the job, which is as it was',
  new: '200 OK with a new jobID',
  none: '404 No job with this jobID',
  empty: '404 No job found',
  unknown: '404 parentJobID does not exist',
  childless: '405 Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED',
  grand: '405 Cannot create grandchildren',
  tied: '404 Trying to create a child that already exists, but it is tied to a different parent',
  unheld: '405 Can only retry/finish RUNNING and RUNQUEUED jobs',
  unfailing: '405 Can only fail RUNNING or RUNQUEUED jobs',
  single: '404 Invalid jobID - Cannot cancel a job without a parent',
  kids: '404 Invalid jobID - Cannot cancel a job with children',
  running: `405 Can't delete a RUNNING job`,
  waiting: `405 Can't delete a parent jobs with children running`,
  impossible: 'no job is ever like this',
} as const;

// The columns are the states. matrix-recipes.ts brings a job of each sort there; RUNQUEUED always means that
// it has retryAfter too, and is not late. Jobs without a parent become PAUSED and CANCELLED by an operator.
// A FINISHED job without a parent is no longer found.
//
// `CreateJob+parentJobID` creates a child of the job; `+unique` one of its name, `+unique+parentJobID` one of its name
// and with its parent.

export const matrix = {
  plain: `
                             QUEUED     RUNNING    RUNQUEUED  PAUSED     FINISHED   FAILED     CANCELLED
CreateJob+parentJobID        childless  ok         ok         childless  unknown    childless  childless
CreateJobs+parentJobID       childless  ok         ok         childless  unknown    childless  childless
CreateJob+unique             same       same       same       same       new        same       same
CreateJob+unique+parentJobID same       same       same       same       new        same       same
CreateJobs+unique            same       same       same       same       new        same       same
GetJob                       RUNNING    empty      empty      empty      empty      empty      empty
GetJobs                      RUNNING    empty      empty      empty      empty      empty      empty
QueryJob                     ok         ok         ok         ok         none       ok         ok
UpdateJob                    ok         ok         ok         ok         none       ok         ok
FinishJob                    unheld     gone       gone       unheld     none       unheld     unheld
RetryJob                     unheld     QUEUED     QUEUED     unheld     none       unheld     unheld
FailJob                      unfailing  FAILED     FAILED     unfailing  none       unfailing  unfailing
CancelJob                    single     single     single     single     none       single     single
DeleteJob                    gone       running    gone       waiting    none       gone       gone
RequeueJobs                  QUEUED     QUEUED     QUEUED     QUEUED     ok         QUEUED     QUEUED`,

  // Its parent waits for it and for a sibling, but for the PAUSED one, whose parent still works.
  child: `
                             QUEUED     RUNNING    RUNQUEUED  PAUSED     FINISHED   FAILED     CANCELLED
CreateJob+parentJobID        childless  grand      grand      grand      childless  childless  childless
CreateJobs+parentJobID       childless  grand      grand      grand      childless  childless  childless
CreateJob+unique             tied       tied       tied       tied       new        tied       tied
CreateJob+unique+parentJobID same       same       same       same       same       same       same
CreateJobs+unique            tied       tied       tied       tied       new        tied       tied
GetJob                       RUNNING    empty      empty      empty      empty      empty      empty
GetJobs                      RUNNING    empty      empty      empty      empty      empty      empty
QueryJob                     ok         ok         ok         ok         ok         ok         ok
UpdateJob                    ok         ok         ok         ok         ok         ok         ok
FinishJob                    unheld     FINISHED   FINISHED   unheld     unheld     unheld     unheld
RetryJob                     unheld     QUEUED     QUEUED     unheld     unheld     unheld     unheld
FailJob                      unfailing  FAILED     FAILED     unfailing  unfailing  unfailing  unfailing
CancelJob                    CANCELLED  ok         CANCELLED  ok         ok         CANCELLED  ok
DeleteJob                    gone       running    gone       waiting    gone       gone       gone
RequeueJobs                  QUEUED     QUEUED     QUEUED     QUEUED     QUEUED     QUEUED     QUEUED`,

  // With one child: PAUSED while the parent is QUEUED or RUNNING, QUEUED while it is PAUSED.
  parent: `
                             QUEUED     RUNNING    RUNQUEUED  PAUSED     FINISHED   FAILED     CANCELLED
CreateJob+parentJobID        childless  ok         ok         ok         unknown    childless  childless
CreateJobs+parentJobID       childless  ok         ok         ok         unknown    childless  childless
CreateJob+unique             same       same       same       same       new        same       same
CreateJob+unique+parentJobID same       same       same       same       new        same       same
CreateJobs+unique            same       same       same       same       new        same       same
GetJob                       RUNNING    empty      empty      empty      empty      empty      empty
GetJobs                      RUNNING    empty      empty      empty      empty      empty      empty
QueryJob                     ok         ok         ok         ok         none       ok         ok
UpdateJob                    ok         ok         ok         ok         none       ok         ok
FinishJob                    unheld     PAUSED     PAUSED     unheld     none       unheld     unheld
RetryJob                     unheld     QUEUED     QUEUED     unheld     none       unheld     unheld
FailJob                      unfailing  FAILED     FAILED     unfailing  none       unfailing  unfailing
CancelJob                    kids       kids       kids       kids       none       kids       kids
DeleteJob                    waiting    running    waiting    waiting    none       gone       gone
RequeueJobs                  QUEUED     QUEUED     QUEUED     QUEUED     ok         QUEUED     QUEUED`,

  retryAfter: `
                             QUEUED     RUNNING    RUNQUEUED  PAUSED     FINISHED   FAILED     CANCELLED
CreateJob+parentJobID        childless  impossible ok         childless  unknown    childless  childless
CreateJobs+parentJobID       childless  impossible ok         childless  unknown    childless  childless
CreateJob+unique             same       impossible same       same       new        same       same
CreateJob+unique+parentJobID same       impossible same       same       new        same       same
CreateJobs+unique            same       impossible same       same       new        same       same
GetJob                       RUNQUEUED  impossible empty      empty      empty      empty      empty
GetJobs                      RUNQUEUED  impossible empty      empty      empty      empty      empty
QueryJob                     ok         impossible ok         ok         none       ok         ok
UpdateJob                    ok         impossible ok         ok         none       ok         ok
FinishJob                    unheld     impossible gone       unheld     none       unheld     unheld
RetryJob                     unheld     impossible QUEUED     unheld     none       unheld     unheld
FailJob                      unfailing  impossible FAILED     unfailing  none       unfailing  unfailing
CancelJob                    single     impossible single     single     none       single     single
DeleteJob                    gone       impossible gone       waiting    none       gone       gone
RequeueJobs                  QUEUED     impossible QUEUED     QUEUED     ok         QUEUED     QUEUED`,

  repeat: `
                             QUEUED     RUNNING    RUNQUEUED  PAUSED     FINISHED   FAILED     CANCELLED
CreateJob+parentJobID        childless  ok         ok         childless  unknown    childless  childless
CreateJobs+parentJobID       childless  ok         ok         childless  unknown    childless  childless
CreateJob+unique             same       same       same       same       new        same       same
CreateJob+unique+parentJobID same       same       same       same       new        same       same
CreateJobs+unique            same       same       same       same       new        same       same
GetJob                       RUNNING    empty      empty      empty      empty      empty      empty
GetJobs                      RUNNING    empty      empty      empty      empty      empty      empty
QueryJob                     ok         ok         ok         ok         none       ok         ok
UpdateJob                    ok         ok         ok         ok         none       ok         ok
FinishJob                    unheld     QUEUED     QUEUED     unheld     none       unheld     unheld
RetryJob                     unheld     QUEUED     QUEUED     unheld     none       unheld     unheld
FailJob                      unfailing  FAILED     FAILED     unfailing  none       unfailing  unfailing
CancelJob                    single     single     single     single     none       single     single
DeleteJob                    gone       running    gone       waiting    none       gone       gone
RequeueJobs                  QUEUED     QUEUED     QUEUED     QUEUED     ok         QUEUED     QUEUED`,

  // A mock can be finished and retried from any state.
  mocked: `
                             QUEUED     RUNNING    RUNQUEUED  PAUSED     FINISHED   FAILED     CANCELLED
CreateJob+parentJobID        childless  ok         ok         childless  unknown    childless  childless
CreateJobs+parentJobID       childless  ok         ok         childless  unknown    childless  childless
CreateJob+unique             same       same       same       same       new        same       same
CreateJob+unique+parentJobID same       same       same       same       new        same       same
CreateJobs+unique            same       same       same       same       new        same       same
GetJob                       RUNNING    empty      empty      empty      empty      empty      empty
GetJobs                      RUNNING    empty      empty      empty      empty      empty      empty
QueryJob                     ok         ok         ok         ok         none       ok         ok
UpdateJob                    ok         ok         ok         ok         none       ok         ok
FinishJob                    gone       gone       gone       gone       none       gone       gone
RetryJob                     QUEUED     QUEUED     QUEUED     QUEUED     none       QUEUED     QUEUED
FailJob                      unfailing  FAILED     FAILED     unfailing  none       unfailing  unfailing
CancelJob                    single     single     single     single     none       single     single
DeleteJob                    gone       running    gone       waiting    none       gone       gone
RequeueJobs                  QUEUED     QUEUED     QUEUED     QUEUED     ok         QUEUED     QUEUED`,
};
