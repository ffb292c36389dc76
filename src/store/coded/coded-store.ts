/**
 * The coded store: a store whose payloads are encoded. It is the only place where payloads are encoded and decoded, so
 * every caller of the store sees decoded payloads, and the database has only encoded ones.
 */
import type { Edge } from '../../model/following.ts';
import type { Job } from '../../model/job.ts';
import type { StoredStep } from '../../model/step.ts';
import { Refusal } from '../../refusal.ts';
import type { Query } from '../query.ts';
import type { Batch, ClaimDecision, ClaimRequest, Note, Store, Writer } from '../store.ts';
import type { Change } from '../../model/change.ts';
import { CodedChanges } from './coded-changes.ts';
import { memoOwner } from './payloads.ts';
import type { Codec } from './codec.ts';

/** Returns the store with the codec. Methods that pass no payload go to the store itself. */
export function codedStore(store: Store, codec: Codec): Store {
  return overriding(store, codedMethods(store, new CodedChanges(codec)));
}

function codedMethods(store: Store, changes: CodedChanges): Partial<Store> {
  const { payloads } = changes;
  const decoded = (jobs: readonly Job[]): readonly Job[] => jobs.map((job) => changes.decodeJob(job));
  return {
    ...codedWriting(store, changes),
    within: (transaction) => {
      const writer = store.within(transaction);
      const { writeNotes } = writer;
      return overriding(writer, {
        ...codedWriting(writer, changes),
        ...(writeNotes && { writeNotes: (notes) => writeNotes(notes.map((note) => encodedNote(changes, note))) }),
      });
    },
    claim: (request, decide) => claim(store, changes, request, decide),
    stageChildren: (parent, fence, children) =>
      store.stageChildren(parent, fence, children.map((child) => changes.encode(child))),
    takeFromInbox: (takes) =>
      store.takeFromInbox(takes.map((take) => ({ ...take, change: take.change && changes.encode(take.change) }))),
    memos: async (prefix) => (await store.memos(prefix)).map((memo) => ({ ...memo, value: payloads.decodeMemo(memo.value) })),
    writeMemos: (writes, given = []) => store.writeMemos(
      writes.map((write) => ({ ...write, value: write.value === null ? null : payloads.encode(write.value, memoOwner) })),
      given.map((change) => changes.encode(change)),
    ),
    writeNotes: (notes) => store.writeNotes(notes.map((note) => encodedNote(changes, note))),
    lapsed: async (limit) => decoded(await store.lapsed(limit)),
    heldUnderLeaseOf: async (instance, limit) => decoded(await store.heldUnderLeaseOf(instance, limit)),
    history: async (id, from, limit) =>
      (await store.history(id, from, limit)).map((event) => changes.decodeEvent(event, id)),
    histories: async (ids) => new Map(
      [...(await store.histories(ids))].map(([id, events]) => [id, events.map((event) => changes.decodeEvent(event, id))]),
    ),
    eventsAfter: async (cursor, limit) => {
      const { events, ...page } = await store.eventsAfter(cursor, limit);
      return { ...page, events: events.map((each) => ({ ...each, event: changes.decodeEvent(each.event, each.job) })) };
    },
    writeSteps: (steps) => store.writeSteps(steps.map((step) => ({
      ...step, result: encodedPart(changes, step.result, step.job), question: encodedPart(changes, step.question, step.job),
    }))),
    steps: async (jobs, after, limit) => (await store.steps(jobs, after, limit)).map((step) => decodedStep(changes, step)),
    stepNamed: async (job, name) => {
      const step = await store.stepNamed(job, name);
      return step && decodedStep(changes, step);
    },
    openWaits: async (after, limit) => (await store.openWaits(after, limit)).map((step) => decodedStep(changes, step)),
    progress: async (id) => {
      const progress = await store.progress(id);
      return progress === null ? null : payloads.decode(progress, id, 'progress');
    },
    log: async (id, after, limit) =>
      (await store.log(id, after, limit)).map((line) => ({ ...line, text: payloads.decode(line.text, id, 'log') })),
    output: async (id, after, limit) => (await store.output(id, after, limit))
      .map((segment) => ({ ...segment, text: payloads.decode(segment.text, id, 'output') })),
    ...(store.inspect && {
      inspect: async (sql, limits) => store.inspect!(refuseReadingData(sql), limits),
    }),
  };
}

/** The methods that a writer in the caller's transaction has too. */
function codedWriting(
  writer: Writer,
  changes: CodedChanges,
): Pick<Writer, 'commit' | 'load' | 'find' | 'count' | 'settleable' | 'proceedable' | 'edges' | 'edgesOfMany'> {
  const decoded = (jobs: readonly Job[]): readonly Job[] => jobs.map((job) => changes.decodeJob(job));
  const decodedEdge = (edge: Edge): Edge => {
    const { followed, result } = edge;
    return result === null ? edge : { ...edge, result: changes.payloads.decode(result, followed, 'result') };
  };
  return {
    commit: (batch: Batch) => writer.commit({
      ...batch,
      changes: batch.changes.map((each) => changes.encode(each)),
      ...(batch.waitEnds && {
        waitEnds: batch.waitEnds.map((end) => ({ ...end, result: encodedPart(changes, end.result, end.job) })),
      }),
    }),
    load: async (ids) => decoded(await writer.load(ids)),
    find: async (query, page) => {
      const found = await writer.find(refuseMatching(query), page);
      return { ...found, jobs: decoded(found.jobs) };
    },
    count: async (query, dueBy) => writer.count(refuseMatching(query), dueBy),
    proceedable: async (followers) => decoded(await writer.proceedable(followers)),
    edges: async (query) => (await writer.edges(query)).map(decodedEdge),
    edgesOfMany: async (query) => (await writer.edgesOfMany(query)).map(decodedEdge),
    settleable: async (limit, parents) => decoded(await writer.settleable(limit, parents)),
  };
}

async function claim(
  store: Store,
  changes: CodedChanges,
  request: ClaimRequest,
  decide: ClaimDecision,
): Promise<readonly Change[]> {
  const decided = new Map<Change, Change>();
  const written = await store.claim(request, (candidates, now, searchedAt) => {
    const decoded = candidates.map((candidate) => ({ ...candidate, job: changes.decodeJob(candidate.job) }));
    return decide(decoded, now, searchedAt).map((change) => {
      const encoded = changes.encode(change);
      decided.set(encoded, change);
      return encoded;
    });
  });
  // A store may return other objects, such as jobs whose input it read only with the claim.
  return written.map((change) => decided.get(change) ?? changes.decode(change));
}

const encodedPart = ({ payloads }: CodedChanges, text: string | null, job: number): string | null =>
  (text === null ? null : payloads.encode(text, { part: 'step', job }));

function decodedStep<Some extends StoredStep>({ payloads }: CodedChanges, step: Some): Some {
  const decode = (text: string | null): string | null => (text === null ? null : payloads.decode(text, step.job, 'step'));
  return { ...step, result: decode(step.result), question: decode(step.question) };
}

const encodedNote = ({ payloads }: CodedChanges, note: Note): Note => ({
  ...note,
  ...(note.progress === undefined
    ? {}
    : { progress: payloads.encode(note.progress, { part: 'progress', job: note.id }) }),
  ...(note.log === undefined ? {} : {
    log: note.log.map((line) => ({ ...line, text: payloads.encode(line.text, { part: 'log', job: note.id }) })),
  }),
  ...(note.output === undefined ? {} : {
    output: note.output.map((segment) => (
      { ...segment, text: payloads.encode(segment.text, { part: 'output', job: note.id }) })),
  }),
});

/** The database cannot compare encoded payloads: a search would find nothing and look as if there were no match. */
function refuseMatching(query: Query): Query {
  const field = query.input !== undefined ? 'input' : query.error !== undefined ? 'error' : null;
  if (field === null) return query;
  const message = `cannot search by ${field}: the stored payloads are encoded; search by type, tag, definition or key`;
  throw new Refusal('encoded.payload', message, { field });
}

/** Refuses SQL that reads the column `data`, by its name or by `*`. */
function refuseReadingData(sql: string): string {
  const code = sql.replace(/'(?:[^']|'')*'/g, `''`);
  if (!/\bdata\b|(?:\bselect\s+(?:distinct\s+|all\s+)?|[,.]\s*)\*/i.test(code)) return sql;
  const message = 'cannot read the column data in SQL: the stored payloads are encoded; name the other columns';
  throw new Refusal('encoded.payload', message, { column: 'data' });
}

/** Returns an object that has the methods of `overrides`, and otherwise those of `inner`, bound to it. */
function overriding<Inner extends object>(inner: Inner, overrides: Partial<Inner>): Inner {
  const bound = new Map<PropertyKey, unknown>();
  return new Proxy(inner, {
    get: (_, name) => {
      if (Object.hasOwn(overrides, name)) return Reflect.get(overrides, name);
      if (bound.has(name)) return bound.get(name);
      const member: unknown = Reflect.get(inner, name, inner);
      if (typeof member !== 'function') return member;
      const method: unknown = member.bind(inner);
      bound.set(name, method);
      return method;
    },
  });
}
