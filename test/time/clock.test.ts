// The clock: timers of any length, and a virtual clock on which waiting code goes on in order.
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { afterOn, systemClock, VirtualClock, type Timers } from '../../src/time/clock.ts';
import { isRefusal } from '../../src/refusal.ts';

const dayMs = 86_400_000;

/** Low-level timers that fire on demand, and record how they were armed. */
class FakeTimers implements Timers {
  time = 0;
  readonly armed: number[] = [];
  #pending: { at: number; call: () => void } | null = null;

  monotonic(): number {
    return this.time;
  }

  arm(ms: number, call: () => void): () => void {
    this.armed.push(ms);
    this.#pending = { at: this.time + ms, call };
    return () => {
      this.#pending = null;
    };
  }

  /** Fires the armed timer, so much too early or too late. */
  fire(errorMs = 0): boolean {
    if (!this.#pending) return false;
    const { at, call } = this.#pending;
    this.#pending = null;
    this.time = at + errorMs;
    call();
    return true;
  }
}

describe('a timer over low-level timers', () => {
  test('is armed in hops of at most an hour and fires once, at its end', () => {
    const timers = new FakeTimers();
    const fired: number[] = [];
    afterOn(timers)(60 * dayMs, () => fired.push(timers.time));
    while (timers.fire());
    expect(Math.max(...timers.armed)).toBe(3_600_000);
    expect(timers.armed).toHaveLength(60 * 24);
    expect(fired).toEqual([60 * dayMs]);
  });

  test.each([2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 40])('of %d ms never fires before its time', (ms) => {
    const timers = new FakeTimers();
    let firedAt = -1;
    afterOn(timers)(ms, () => {
      firedAt = timers.time;
    });
    while (timers.fire(3));
    expect(firedAt).toBeGreaterThanOrEqual(ms);
    expect(firedAt).toBeLessThan(ms + 4);
  });

  test('that fires a little early is armed again for what is left', () => {
    const timers = new FakeTimers();
    let fired = 0;
    afterOn(timers)(1000, () => (fired += 1));
    timers.fire(-0.4);
    expect(fired).toBe(0);
    expect(timers.armed).toEqual([1000, 1]);
    timers.fire();
    expect(fired).toBe(1);
  });

  test('can be cancelled after some hops', () => {
    const timers = new FakeTimers();
    const cancel = afterOn(timers)(30 * dayMs, () => expect.fail('it was cancelled'));
    for (let hop = 0; hop < 100; hop += 1) timers.fire();
    cancel();
    expect(timers.fire()).toBe(false);
  });

  test('without an end waits an hour at a time', () => {
    const timers = new FakeTimers();
    afterOn(timers)(Infinity, () => expect.fail('it has no end'));
    for (let hop = 0; hop < 1000; hop += 1) expect(timers.fire()).toBe(true);
  });

  test('refuses a time to wait that is no number', () => {
    expect(() => afterOn(new FakeTimers())(NaN, () => {})).toThrow(expect.toSatisfy(isRefusal));
  });
});

describe('the system clock', () => {
  test('returns wall time and monotonic time', () => {
    expect(systemClock.now()).toBeGreaterThan(Date.UTC(2026, 0));
    const before = systemClock.monotonic();
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
  });

  test('calls after a while, and not if cancelled', async () => {
    const cancel = systemClock.after(0, () => expect.fail('it was cancelled'));
    cancel();
    const before = systemClock.monotonic();
    await new Promise<void>((resolve) => {
      systemClock.after(5, resolve);
    });
    expect(systemClock.monotonic() - before).toBeGreaterThanOrEqual(5);
  });

  test('ends a sleep when the signal aborts, before or during it', async () => {
    await systemClock.sleep(dayMs, AbortSignal.abort());
    const stop = new AbortController();
    const sleep = systemClock.sleep(Infinity, stop.signal);
    stop.abort();
    await sleep;
  });
});

describe('the virtual clock', () => {
  test('stands still until it is advanced', async () => {
    const clock = new VirtualClock(5000);
    expect([clock.now(), clock.monotonic()]).toEqual([5000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([5250, 250]);
  });

  test('runs timers in order of time, then of age, each at its own time', async () => {
    const clock = new VirtualClock(0);
    const seen: string[] = [];
    const note = (name: string) => (): void => void seen.push(`${name}@${clock.now()}`);
    clock.after(20, note('late'));
    clock.after(10, note('first'));
    clock.after(10, note('second'));
    clock.after(0, note('at once'));
    clock.after(31, note('not yet'));
    await clock.advance(30);
    expect(seen).toEqual(['at once@0', 'first@10', 'second@10', 'late@20']);
    expect(clock.pending()).toBe(1);
  });

  test('lets awaiting code continue between timers, so that a chain of sleeps fits into one advance', async () => {
    const clock = new VirtualClock(0);
    const woke: number[] = [];
    const loop = async (): Promise<void> => {
      for (let round = 0; round < 5; round += 1) {
        await clock.sleep(10);
        await Promise.resolve().then(() => {});
        woke.push(clock.now());
      }
    };
    const done = loop();
    await clock.advance(100);
    await done;
    expect(woke).toEqual([10, 20, 30, 40, 50]);
  });

  test('runs a timer beyond 2^31 ms at its time and not before', async () => {
    const clock = new VirtualClock(0);
    let fired = 0;
    clock.after(40 * dayMs, () => (fired += 1));
    await clock.advance(40 * dayMs - 1);
    expect(fired).toBe(0);
    await clock.advance(1);
    expect(fired).toBe(1);
  });

  test('jumps its wall time alone, in either direction', async () => {
    const clock = new VirtualClock(1_000_000);
    let fired = 0;
    clock.after(100, () => (fired += 1));
    clock.jump(3_600_000);
    clock.jump(-7_200_000);
    expect([clock.now(), clock.monotonic(), fired]).toEqual([1_000_000 - 3_600_000, 0, 0]);
    await clock.advance(100);
    expect(fired).toBe(1);
  });

  test('removes cancelled timers, and leaves no timer or listener after a sleep', async () => {
    const clock = new VirtualClock(0);
    const cancel = clock.after(10, () => expect.fail('it was cancelled'));
    cancel();
    cancel();
    const stop = new AbortController();
    const sleep = clock.sleep(1000, stop.signal);
    expect(clock.pending()).toBe(1);
    stop.abort();
    await sleep;
    expect(clock.pending()).toBe(0);
    const other = new AbortController();
    const whole = clock.sleep(10, other.signal);
    await clock.advance(10);
    await whole;
    expect(getEventListeners(other.signal, 'abort')).toEqual([]);
  });

  test('refuses concurrent advances, and rethrows the error of a timer', async () => {
    const clock = new VirtualClock(0);
    const first = clock.advance(10);
    await expect(clock.advance(10)).rejects.toThrow('advancing already');
    await first;
    clock.after(1, () => {
      throw new Error('planted');
    });
    await expect(clock.advance(10)).rejects.toThrow('planted');
    await clock.advance(10);
  });
});
