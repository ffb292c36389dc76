/** The rows of Bedrock's table `jobs`, as the process that executes users' SQL reads them from the file. */

const time = (ms: string): string => `strftime('%Y-%m-%d %H:%M:%S', (${ms}) / 1000.0, 'unixepoch')`;
const retryAfter = `body ->> '$.policy.retryAfter'`;
const repeat = `coalesce(body ->> '$.policy.repeat', '')`;
const crashes = `coalesce(body ->> '$.crashes', 0)`;
const isQueued = `kind IN ('bedrock', 'mock')`;

/** As in the vocabulary of Bedrock: whether it is late, how often it was handed out, where a schedule counts from. */
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

/** Bedrock deletes jobs without a parent that succeeded. The two parts of the ended jobs have an index each. */
export const jobsSelect = `${openJobs}
  UNION ALL ${endedJobs} AND fate <> 'succeeded'
  UNION ALL ${endedJobs} AND fate = 'succeeded' AND parent IS NOT NULL`;
