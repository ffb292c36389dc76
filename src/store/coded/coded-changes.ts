/**
 * Encodes jobs, events and changes before they are stored, and decodes them when they are read. A payload that a change
 * does not touch keeps its stored text: it is neither encoded again nor written again.
 */
import { alertTypeName } from '../../model/alert.ts';
import type { Change } from '../../model/change.ts';
import type { Edit, Event } from '../../model/event.ts';
import type { Job, JobError } from '../../model/job.ts';
import { isOwnType } from '../../model/own-type.ts';
import type { Kind } from '../../model/state.ts';
import type { Codec, PayloadPart } from './codec.ts';
import { Payloads } from './payloads.ts';

const paramsKinds: readonly Kind[] = ['def', 'audit'];
const plainKinds: readonly Kind[] = ['type', 'build', 'limit', 'pause'];
/** Stint's own jobs have no payload of the application, except the messages of alerts, which contain errors of runs. */
const isPlain = (type: string): boolean => isOwnType(type) && type !== alertTypeName;

export class CodedChanges {
  readonly payloads: Payloads;
  /** The stored job of each decoded job that was read or written here. */
  readonly #stored = new WeakMap<Job, Job>();

  constructor(codec: Codec) {
    this.payloads = new Payloads(codec);
  }

  encode(change: Change): Change {
    return new ChangeEncoding(this.payloads, change, this.#stored).encoded();
  }

  decode(stored: Change): Change {
    const { before, after, events } = stored;
    return {
      before: before && this.decodeJob(before),
      after: after && this.decodeJob(after),
      events: events.map((event) => this.decodeEvent(event, (before ?? after)!.id)),
    };
  }

  decodeJob<Some extends Job>(stored: Some): Some {
    const { id } = stored;
    const decode = <T extends string | null>(text: T, part: PayloadPart): T =>
      (text === null ? text : (this.payloads.decode(text, id, part) as T));
    const job = {
      ...stored,
      input: this.#decodeInput(stored.input, id),
      result: decode(stored.result, 'result'),
      details: decode(stored.details, 'details'),
      error: stored.error && this.payloads.decodeError(stored.error, id),
    };
    this.#stored.set(job, stored);
    return job;
  }

  decodeEvent(event: Event, job: number): Event {
    switch (event.kind) {
      case 'retried':
      case 'failed':
        return { ...event, error: this.payloads.decodeError(event.error, job) };
      case 'planned':
        return event.details === undefined
          ? event
          : { ...event, details: this.payloads.decode(event.details, job, 'details') };
      case 'edited':
        return event.edit.input === undefined
          ? event
          : { ...event, edit: { ...event.edit, input: this.#decodeInput(event.edit.input, job) } };
      case 'proceeded':
        return event.input === undefined ? event : { ...event, input: this.#decodeInput(event.input, job) };
      default:
        return event;
    }
  }

  #decodeInput(input: string, job: number): string {
    return this.payloads.decodeParams(this.payloads.decode(input, job, 'input'));
  }
}

/** Encodes one change. Equal payloads of its job and its events get one text, so that a replay gives the stored row. */
class ChangeEncoding {
  readonly #payloads: Payloads;
  readonly #change: Change;
  readonly #stored: WeakMap<Job, Job>;
  readonly #id: number;
  readonly #how: 'payloads' | 'params' | 'nothing';
  readonly #texts = new Map<string, string>();
  readonly #errors = new Map<JobError, JobError>();

  constructor(payloads: Payloads, change: Change, stored: WeakMap<Job, Job>) {
    const { id, kind, type } = (change.after ?? change.before)!;
    this.#payloads = payloads;
    this.#change = change;
    this.#stored = stored;
    this.#id = id;
    this.#how = paramsKinds.includes(kind) ? 'params'
      : plainKinds.includes(kind) || isPlain(type) ? 'nothing' : 'payloads';
  }

  encoded(): Change {
    const { before, after, events } = this.#change;
    if (this.#how === 'nothing') return this.#change;
    const storedBefore = before && this.#storedOf(before);
    if (before !== null && storedBefore !== null) this.#keep(before, storedBefore);
    return {
      before: storedBefore,
      after: after && this.#storedOf(after),
      events: events.some(hasPayload) ? events.map((event) => this.#event(event)) : events,
    };
  }

  /** Makes the payloads that the change does not touch keep their stored texts. */
  #keep(before: Job, stored: Job): void {
    this.#remember('input', before.input, stored.input);
    this.#remember('result', before.result, stored.result);
    this.#remember('details', before.details, stored.details);
    if (before.error !== null && stored.error !== null) this.#errors.set(before.error, stored.error);
  }

  #remember(part: PayloadPart, payload: string | null, stored: string | null): void {
    if (payload !== null && stored !== null) this.#texts.set(`${part} ${payload}`, stored);
  }

  #storedOf(job: Job): Job {
    const known = this.#stored.get(job);
    if (known) return known;
    const stored = {
      ...job,
      input: this.#text('input', job.input),
      result: job.result === null ? null : this.#text('result', job.result),
      details: job.details === null ? null : this.#text('details', job.details),
      error: job.error && this.#error(job.error),
    };
    this.#stored.set(job, stored);
    return stored;
  }

  #event(event: Event): Event {
    switch (event.kind) {
      case 'retried':
      case 'failed':
        return { ...event, error: this.#error(event.error) };
      case 'planned':
        return event.details === undefined ? event : { ...event, details: this.#text('details', event.details) };
      case 'edited':
        return { ...event, edit: this.#edit(event.edit) };
      case 'proceeded':
        return event.input === undefined ? event : { ...event, input: this.#text('input', event.input) };
      default:
        return event;
    }
  }

  #edit(edit: Edit): Edit {
    return edit.input === undefined ? edit : { ...edit, input: this.#text('input', edit.input) };
  }

  #text(part: 'input' | 'result' | 'details', payload: string): string {
    const name = `${part} ${payload}`;
    const known = this.#texts.get(name);
    if (known !== undefined) return known;
    const text = this.#encodedText(part, payload);
    this.#texts.set(name, text);
    return text;
  }

  #encodedText(part: 'input' | 'result' | 'details', payload: string): string {
    if (part !== 'input') return this.#payloads.encode(payload, { part, job: this.#id });
    return this.#how === 'params'
      ? this.#payloads.encodeParams(payload)
      : this.#payloads.encodeInput(payload, this.#id);
  }

  #error(error: JobError): JobError {
    const known = this.#errors.get(error);
    if (known) return known;
    const encoded = this.#payloads.encodeError(error, this.#id);
    this.#errors.set(error, encoded);
    return encoded;
  }
}

const hasPayload = ({ kind }: Event): boolean =>
  kind === 'retried' || kind === 'failed' || kind === 'planned' || kind === 'edited' || kind === 'proceeded';
