/** What a server refused, or why it could not be reached, as something to show. */
import type { Problem } from '../../src/http/contract.ts';

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  /** 0: the server did not answer. */
  readonly status: number;
  readonly code: string;
  readonly trace: string | null;

  constructor({ status, code, detail, trace }: Pick<Problem, 'status' | 'code' | 'detail' | 'trace'>) {
    super(detail);
    this.status = status;
    this.code = code;
    this.trace = trace ?? null;
  }
}

export async function problemOf(response: Response): Promise<ApiProblem> {
  const text = await response.text().catch(() => '');
  const isProblem = response.headers.get('content-type')?.includes('problem+json') ?? false;
  if (isProblem) return new ApiProblem(JSON.parse(text) as Problem);
  const { status } = response;
  return new ApiProblem({ status, code: 'http', detail: `the server answered ${status}: ${text.slice(0, 200)}` });
}

export const unreachable = (): ApiProblem =>
  new ApiProblem({ status: 0, code: 'unreachable', detail: 'the server does not answer' });

/** Anything that was thrown, as a sentence. */
export const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
