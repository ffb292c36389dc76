/**
 * The named flow: a flow as data, for callers that cannot pass code. Its runs have names, follow each other by name in
 * any order, and refer to results by `{ "$result": name, "path": […] }` in their input.
 */
import { checkFields, checkList, checkName } from '../../jobs/checks/values.ts';
import { flowRunsMax } from '../../jobs/create-flow.ts';
import { isAfterSuccess } from '../../model/following.ts';
import { Refusal } from '../../refusal.ts';
import type { FlowBuilder, FlowRun } from './flow-builder.ts';
import type { JobType } from './job-type.ts';
import { resultPart } from './result-part.ts';
import { refuseUnsurePart, withResults, type ResultReference } from './result-reference.ts';
import type { RunRequest } from './run-request.ts';

export interface NamedFlow {
  readonly runs: readonly NamedFlowRun[];
}

export type NamedFlowRun = Omit<RunRequest<unknown>, 'after' | 'followers'> & {
  /** Unique within the flow. */
  readonly name: string;
  readonly type?: string;
  readonly def?: string;
  /** What it follows: names of runs of the flow, and ids of stored runs. */
  readonly after?: readonly (string | number)[];
};

/** The engine looks up a type or definition by its name as well. */
type AnyType = JobType<unknown, unknown>;

/** Refuses a document that is no flow: it has no list of runs, or something in the list is no run. */
export const checkNamedFlow = (document: NamedFlow): NamedFlow =>
  ({ runs: checkList('runs', checkFields('a flow', document, ['runs']).runs, flowRunsMax, checkRun) });

/**
 * Adds the runs to a flow, those that are followed first; returns them by name in this order. The first one has the key
 * `unique` of the flow, if it is given.
 */
export function addNamedRuns(
  flow: FlowBuilder,
  document: NamedFlow,
  unique: object | null = null,
): ReadonlyMap<string, FlowRun> {
  const { runs } = checkNamedFlow(document);
  const added = new Map<string, FlowRun>();
  const targets = new Map<string, object>();
  for (const run of inOrder(byName(runs))) {
    const { name, type, def, ...request } = run;
    const key = JSON.stringify([type, def]);
    // One object per type and definition, so that each is looked up once.
    const what = targets.get(key) ?? (type === undefined ? { def } : { type });
    targets.set(key, what);
    const own = unique !== null && added.size === 0 ? withUnique(run, request, unique) : request;
    added.set(name, flow.run(what as AnyType, requestOf(own, added)));
  }
  return added;
}

function withUnique<Request extends object>({ name, unique: own }: NamedFlowRun, request: Request, unique: object): Request {
  if (own === undefined) return { ...request, unique };
  throw malformed(`run ${quoted(name)} has a unique key: leave it out, or give none for the flow`, { name });
}

function checkRun(run: NamedFlowRun): NamedFlowRun {
  if (typeof run !== 'object' || run === null) throw malformed('a run of a flow is an object with a name and a type', {});
  const { name, type, def, after = [] } = run;
  checkName('name of a run', name);
  if ((type === undefined) === (def === undefined)) throw malformed(`run ${quoted(name)} needs either a type or a def`, { name });
  checkList('after', after, flowRunsMax, (followed) => followed);
  return run;
}

function byName(runs: readonly NamedFlowRun[]): ReadonlyMap<string, NamedFlowRun> {
  const named = new Map<string, NamedFlowRun>();
  for (const run of runs) {
    if (named.has(run.name)) throw malformed(`two runs have the name ${quoted(run.name)}: rename one of them`, { name: run.name });
    named.set(run.name, run);
  }
  return named;
}

/** Returns the runs so that each comes after those that it follows; refuses cycles. */
function inOrder(runs: ReadonlyMap<string, NamedFlowRun>): readonly NamedFlowRun[] {
  const open = new Map<string, number>();
  const followers = new Map(Array.from(runs.keys(), (name) => [name, [] as string[]]));
  for (const run of runs.values()) {
    const followed = followedNames(run, runs);
    open.set(run.name, followed.size);
    for (const name of followed) followers.get(name)!.push(run.name);
  }
  const ready = [...open].filter(([, count]) => count === 0).map(([name]) => name);
  for (const name of ready) {
    for (const follower of followers.get(name)!) {
      open.set(follower, open.get(follower)! - 1);
      if (open.get(follower) === 0) ready.push(follower);
    }
  }
  if (ready.length < runs.size) throw cycleAmong([...runs.values()].filter(({ name }) => open.get(name)! > 0), runs);
  return ready.map((name) => runs.get(name)!);
}

function followedNames(run: NamedFlowRun, runs: ReadonlyMap<string, NamedFlowRun>): ReadonlySet<string> {
  const names = new Set((run.after ?? []).filter((followed) => typeof followed === 'string'));
  withResults(run.input, ({ $result }) => names.add($result));
  const unknown = [...names].find((name) => !runs.has(name));
  if (unknown === undefined) return names;
  const message = `run ${quoted(run.name)} follows ${quoted(unknown)}, which is no run of this flow: add it, or correct the name`;
  throw malformed(message, { name: run.name, unknown });
}

/** Every one of the remaining runs follows another remaining run, so that a walk along them returns to one of them. */
function cycleAmong(remaining: readonly NamedFlowRun[], runs: ReadonlyMap<string, NamedFlowRun>): Refusal {
  const names = new Set(remaining.map(({ name }) => name));
  const walked = new Set<string>();
  let name = remaining[0]!.name;
  while (!walked.has(name)) {
    walked.add(name);
    name = [...followedNames(runs.get(name)!, runs)].find((each) => names.has(each))!;
  }
  const path = [...walked];
  const cycle = [...path.slice(path.indexOf(name)), name];
  const shown = cycle.slice(0, 10).map(quoted).join(' follows ');
  return malformed(`the flow has a cycle: ${shown}: remove one of these edges`, { cycle: cycle.slice(0, 100) });
}

function requestOf(
  { after, input, ...request }: Omit<NamedFlowRun, 'name' | 'type' | 'def'>,
  added: ReadonlyMap<string, FlowRun>,
): object {
  const part = ({ $result, path = [] }: ResultReference): unknown => {
    const run = added.get($result)!;
    const isSure = isAfterSuccess(request);
    refuseUnsurePart(isSure, path);
    return isSure ? resultPart(run, path) : run.resultOrNull;
  };
  return {
    ...request,
    ...(after === undefined ? {} : { after: after.map((followed) => (typeof followed === 'string' ? added.get(followed)! : followed)) }),
    ...(input === undefined ? {} : { input: withResults(input, part) }),
  };
}

const quoted = (name: string): string => JSON.stringify(name);

const malformed = (message: string, detail: Readonly<Record<string, unknown>>): Refusal =>
  new Refusal('malformed.flow', message, detail);
