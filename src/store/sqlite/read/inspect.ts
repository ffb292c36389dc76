/**
 * The SELECT that returns the rows of Bedrock's table `jobs`. The process that executes users' SQL runs this SELECT on
 * the file of the store.
 */

const time = (ms: string): string => `strftime('%Y-%m-%d %H:%M:%S', (${ms}) / 1000.0, 'unixepoch')`;
const retryAfter = `body ->> '$.policy.retryAfter'`;
const repeat = `coalesce(body ->> '$.policy.repeat', '')`;
const crashes = `coalesce(body ->> '$.crashes', 0)`;
const isQueued = `kind IN ('bedrock', 'mock')`;

/**
 * SQL for `isLate` in model/job.ts and for `handOuts` and `originalNextRun` in vocabulary/bedrock.ts, with which it
 * must agree. A job is late if it is pending because its lease has lapsed. The worker that held it may still finish it
 * until another worker claims it. `handOuts` counts how often workers claimed the job without finishing it.
 */
const isLate = `(state = 'pending' AND ${retryAfter} IS NOT NULL AND ${crashes} > 0
  AND body ->> '$.scheduled' IS NOT NULL)`;
const handOuts = `iif(body ->> '$.policy.handOutsMax' IS NULL, 0, ${crashes} + coalesce(body ->> '$.attempt', 0))`;
const originalNextRun = `iif((state = 'running' OR ${isLate}) AND ${repeat} LIKE '%SCHEDULED%',
  ${time(`coalesce(body ->> '$.scheduled', due)`)}, NULL)`;

const openJobs = `SELECT ${time('created')}, id,
    CASE WHEN state = 'held' THEN 'PAUSED' WHEN ${isLate} THEN 'RUNQUEUED' WHEN state = 'pending' THEN 'QUEUED'
      ELSE iif(${retryAfter} IS NULL, 'RUNNING', 'RUNQUEUED') END,
    type, ${time(`coalesce(iif(state = 'running' AND ${retryAfter} IS NOT NULL, lease_until, NULL), due)`)},
    ${time(`body ->> '$.startedAt'`)}, ${repeat}, with_hand_out(input, ${handOuts}, ${originalNextRun}),
    priority, coalesce(parent, 0), coalesce(${retryAfter}, '')
  FROM main.job WHERE ${isQueued}`;

const endedJobs = `SELECT ${time('created')}, id,
    CASE fate WHEN 'succeeded' THEN 'FINISHED' WHEN 'failed' THEN 'FAILED' ELSE 'CANCELLED' END,
    type, ${time(`coalesce(body ->> '$.due', created)`)}, ${time(`body ->> '$.startedAt'`)}, ${repeat}, input,
    coalesce(body ->> '$.priority', 0), coalesce(parent, 0), coalesce(${retryAfter}, '')
  FROM main.ended WHERE ${isQueued}`;

/**
 * Leaves out succeeded jobs without a parent, because Bedrock deletes them. The other ended jobs are selected in two
 * parts, each of which has an index.
 */
export const jobsSelect = `${openJobs}
  UNION ALL ${endedJobs} AND fate <> 'succeeded'
  UNION ALL ${endedJobs} AND fate = 'succeeded' AND parent IS NOT NULL`;
