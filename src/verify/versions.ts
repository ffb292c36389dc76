/** S42: no job is claimed by a worker that does not know the version of its payload. */
import { firstTypeVersion } from '../model/type-version.ts';
import type { JobWithHistory } from './history.ts';
import { violation, type Violation } from './violation.ts';

/** A version that was edited is known from the first edit on; before it, the job had a version that no event states. */
export function checkVersions({ job, events }: JobWithHistory): Violation[] {
  const isEdited = events.some((event) => event.kind === 'edited' && event.edit.typeVersion !== undefined);
  let version = isEdited ? null : job.typeVersion;
  const found: Violation[] = [];
  for (const event of events) {
    if (event.kind === 'edited') version = event.edit.typeVersion ?? version;
    if (event.kind !== 'claimed' || version === null) continue;
    const [from, to] = event.knows ?? [firstTypeVersion, firstTypeVersion];
    if (version >= from && version <= to) continue;
    const sentence = `job ${job.id} of version ${version} was claimed by ${event.holder}, which knows ${from} to ${to}`;
    found.push(violation('S42', job.id, sentence));
  }
  return found;
}
