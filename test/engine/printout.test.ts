// The printout of a child process: lines, and the mark that ends the output of a call.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Printout } from '../../src/engine/isolation/printout.ts';

const mark = '\u0001stint 0123456789abcdef';

test.each([9_970, 9_980, 9_990, 9_999, 10_000, 10_020])(
  'a mark after %i characters without a line end is known, wherever its pieces are split',
  async (length) => {
    for (let at = 1; at < mark.length; at += 7) {
      const lines: string[] = [];
      const printout = new Printout((_, text) => lines.push(text));
      const [out, error] = [new PassThrough(), new PassThrough()];
      printout.read(out, 'info');
      printout.read(error, 'error');
      printout.expect(mark);
      out.write('x'.repeat(length) + mark.slice(0, at));
      await new Promise((resolve) => setImmediate(resolve));
      out.write(`${mark.slice(at)}\n`);
      error.write(`${mark}\n`);
      await printout.passed;
      expect(lines.join('')).toBe('x'.repeat(length));
    }
  },
);
