// Prefilters: which conditions of a query are certain to hold of all its rows.
import { describe, expect, test } from 'vitest';
import { prefiltersOf } from '../../src/store/inspection/prefilter.ts';

const where = (conditions: string): unknown => prefiltersOf(`SELECT jobID, data FROM jobs WHERE ${conditions};`);

describe('a condition', () => {
  test.for<[string, unknown]>([
    ['jobID = 7', [{ column: 'jobID', values: [7] }]],
    [`jobid == '7'`, [{ column: 'jobID', values: [7] }]],
    ['jobID IN (1, 2,3)', [{ column: 'jobID', values: [1, 2, 3] }]],
    ['parentJobID=3', [{ column: 'parentJobID', values: [3] }]],
    [`name = 'it''s'`, [{ column: 'name', values: [`it's`] }]],
    [`name IN ('a', 'b')`, [{ column: 'name', values: ['a', 'b'] }]],
    [`name GLOB 'www-prod/B*'`, [{ column: 'name', prefix: 'www-prod/B' }]],
    [
      `state = 'QUEUED' AND jobID = 7 AND (name = 'x' AND 1) AND name = 'y' ORDER BY jobID = 1 AND jobID = 2`,
      [{ column: 'jobID', values: [7] }, { column: 'name', values: ['y'] }],
    ],
    [`jobID = 7 GROUP BY name HAVING jobID = 8`, [{ column: 'jobID', values: [7] }]],
  ])('%s is certain', ([conditions, wanted]) => {
    expect(where(conditions)).toEqual(wanted);
  });

  test.for([
    'jobID = 1 OR jobID = 2', 'NOT jobID = 1', 'x BETWEEN 1 AND jobID = 5', 'CASE WHEN 1 AND jobID = 5 AND 1 THEN 1 END',
    'jobID = 1 = 0', '0 = jobID = 1', 'jobID = -1', 'jobID = 1.5', 'jobID = 1e3', 'jobID = 0x10',
    'jobID = 99999999999999999999', 'parentJobID = 0', `jobID = ' 1'`, `jobID = '1x'`, 'jobID = name', 'jobID IN (1, 2',
    'jobID IN ()', 'jobID IN (1 2)', 'jobID IN (SELECT jobID FROM jobs)', 'jobID NOT IN (1)', `name = "x"`,
    `name = 'x' COLLATE nocase`, `name = 1`, `name GLOB '*x'`, `name GLOB 'a' || '*'`, `name LIKE 'a%'`, 'j.jobID = 1',
    '"jobID" = 1', '"x and jobID = 5 and y" = 1', '[x and jobID = 5 and y] = 1', '`x and jobID = 5 and y` = 1',
    'jobID = 5 AND "x" = 1', 'jobID = 5 AND [x] = 1', 'jobID = 5 AND `x` = 1', 'jobID = 5 ORDER BY "x"',
    'jobID = 1 -- AND', 'jobID /* */ = 1', 'jobID = 1 UNION SELECT * FROM jobs', 'jobID = ?', 'jobID = 1 IS NULL', 'jobID = 1 COLLATE binary', 'jobID = +1',
  ])('%s is not', (conditions) => {
    expect(where(conditions)).toEqual([]);
  });

  test.for([
    'SELECT 1;', 'SELECT * FROM jobs;', 'SELECT * FROM jobs j WHERE jobID = 1;', 'SELECT * FROM jobs, x WHERE jobID = 1;',
    'SELECT * FROM jobs JOIN jobs b WHERE jobID = 1;', 'SELECT (SELECT 1 FROM jobs) FROM jobs WHERE jobID = 1;',
    'WITH jobs AS (VALUES (1)) SELECT * FROM jobs WHERE jobID = 1;', 'SELECT * FROM other WHERE jobID = 1;',
    `SELECT 'from jobs where jobID = 1' FROM other;`, 'EXPLAIN SELECT * FROM main.jobs WHERE jobID = 1;',
  ])('is not looked for in %s', (sql) => {
    expect(prefiltersOf(sql)).toEqual([]);
  });
});
