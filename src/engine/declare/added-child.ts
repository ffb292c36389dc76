/** What a handler may pass to `children.add`, in this process or isolated. */
import { checkFields } from '../../jobs/checks/values.ts';
import { Refusal } from '../../refusal.ts';
import { childRequestNames, type ChildRequest } from './child-request.ts';
import { isJobType, type AnyJobType } from './job-type.ts';

export interface AddedChild {
  readonly type: AnyJobType;
  readonly request: ChildRequest<unknown>;
}

export function checkedChild(type: AnyJobType, request: ChildRequest<unknown>): AddedChild {
  if (!isJobType(type)) {
    throw new Refusal('malformed.option', 'children.add() needs a job type, as jobType() returns it', { given: typeof type });
  }
  return { type, request: checkFields('the request of a child', request, childRequestNames) };
}

export const addedTooLate = (id: number, why: string): Refusal =>
  new Refusal('malformed.option', `run ${id} cannot add a child: ${why}`, { id });
