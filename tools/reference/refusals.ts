/** The page of refusals: what can be wrong, by its code. */
import { httpCodes, statusOf } from '../../src/http/problems.ts';
import { refusalCodes, type RefusalCode } from '../../src/refusal.ts';
import { code, page, sentence, table } from './markdown.ts';

export const refusalsPage = (): string =>
  page(
    'Refusals',
    `
    Whatever a user can cause is refused with a code that programs can look at and a sentence that says what to do;
    nothing is half done. In TypeScript it is thrown as a \`Refusal\` with \`code\`, \`message\` and \`detail\`;
    over HTTP it is a problem (RFC 9457) with the status below; on the command line the exit code is 2. What is not
    in this list is a mistake of ours.
    `,
    '## Of the library',
    table(
      ['code', 'HTTP', 'when'],
      (Object.keys(refusalCodes) as RefusalCode[]).map((name) => [
        code(name), String(statusOf(name)), sentence(refusalCodes[name]),
      ]),
    ),
    '## Of the HTTP server alone',
    table(
      ['code', 'HTTP', 'when'],
      Object.entries(httpCodes).map(([name, [status, says]]) => [code(name), String(status), sentence(says)]),
    ),
  );
