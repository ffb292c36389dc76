/** Reads a page of the output of a job. */
import { checkLimit } from '../../jobs/checks/query.ts';
import { chunksOf, outputStart, parseOutputPosition, type OutputChunk } from '../../model/output.ts';
import type { Store } from '../../store/store.ts';

export interface OutputRequest {
  /** The position of a chunk: only chunks behind it are returned. Default: from the beginning. */
  readonly after?: string;
  /** At most 1,000, the default. A page may have fewer chunks although there are more: an empty one is the last. */
  readonly limit?: number;
}

export const outputPage = 1000;
/** Limits what a page reads: a segment has up to 320 KiB. */
const segmentsPerPage = 16;

export async function readOutput(
  store: Pick<Store, 'output'>,
  id: number,
  { after, limit = outputPage }: OutputRequest = {},
): Promise<readonly OutputChunk[]> {
  const most = checkLimit(limit, outputPage);
  const position = after === undefined ? outputStart : parseOutputPosition(after);
  const chunks: OutputChunk[] = [];
  for (const segment of await store.output(id, position, Math.min(most, segmentsPerPage))) {
    chunks.push(...chunksOf(segment, position));
    if (chunks.length >= most) break;
  }
  return chunks.slice(0, most);
}
