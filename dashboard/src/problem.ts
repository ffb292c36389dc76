/** An error of the API: the server responded with a problem, or it could not be reached. */
import type { Problem } from '../../src/http/contract.ts';

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  /** The HTTP status; 0: no response. */
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
  return new ApiProblem({ status, code: 'http', detail: `The server answered ${status}: ${text.slice(0, 200)}` });
}

export const unreachable = (): ApiProblem =>
  new ApiProblem({ status: 0, code: 'unreachable', detail: 'Cannot reach the server' });

/** Returns the message of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
