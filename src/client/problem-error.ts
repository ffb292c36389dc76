/** The error that the client throws if the server refuses a request; it has the code of the refusal. */
import type { Problem } from '../http/contract.ts';

export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly code: string;
  readonly about: Readonly<Record<string, unknown>>;

  constructor({ status, code, detail, about = {} }: Problem) {
    super(detail);
    this.status = status;
    this.code = code;
    this.about = about;
  }
}

/** Converts any unsuccessful response to an error, even a proxy's response that is not a problem document. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const text = await response.text().catch(() => '');
  const isProblem = response.headers.get('content-type')?.includes('problem+json') ?? false;
  if (isProblem) return new ProblemError(JSON.parse(text) as Problem);
  const detail = `the server responded with ${response.status}: ${text.slice(0, 200)}`;
  const { status } = response;
  return new ProblemError({ type: 'about:blank', title: 'no problem document', status, code: 'http', detail });
}
