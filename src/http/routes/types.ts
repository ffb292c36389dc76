/** Job types over HTTP: the settings of one type, and the pauses of types and of their keys. */
import { redactWhy, type Visibility } from '../access/redact.ts';
import type { Pause } from '../../model/pause.ts';
import type { Duration } from '../../time/duration.ts';
import type { PauseView } from '../contract.ts';
import type { StoreRouteHandlers } from '../handler.ts';
import { typeDetail } from '../type-views.ts';
import { act } from './runs.ts';

export const typeRoutes: StoreRouteHandlers<'getType' | 'pauseType' | 'resumeType' | 'listPauses'> = {
  getType: ({ engine }, { params: { name } }) => typeDetail(engine, name),

  async pauseType({ engine }, { params: { name }, body: { why, until, key } }, { principal }) {
    const pause = await engine.pauseType(name, { ...act(principal, why), why, until, key });
    return pauseView(pause, principal.visibility);
  },

  async resumeType({ engine }, { params: { name }, body: { why, key, spread } }, { principal }) {
    await engine.resumeType(name, { ...act(principal, why), key, spread: spread as Duration | undefined });
    return {};
  },

  async listPauses({ engine }, _request, { principal: { visibility } }) {
    return { items: (await engine.pauses()).map((pause) => pauseView(pause, visibility)) };
  },
};

const pauseView = (pause: Pause, visibility: Visibility): PauseView =>
  ({ ...redactWhy(pause, visibility), spread: pause.spread && redactWhy(pause.spread, visibility) });
