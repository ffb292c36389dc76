/** The routes that commands use, with the handlers that answer them on a store. */
import { alertRoutes } from '../http/routes/alerts.ts';
import { auditRoutes } from '../http/routes/audit.ts';
import { defDocumentRoutes } from '../http/routes/def-documents.ts';
import { defRoutes } from '../http/routes/defs.ts';
import { flowRoutes } from '../http/routes/flows.ts';
import { inboxRoutes } from '../http/routes/inbox.ts';
import { instanceRoutes } from '../http/routes/instances.ts';
import { limitRoutes } from '../http/routes/limits.ts';
import { overviewRoutes } from '../http/routes/overview.ts';
import { questionRoutes } from '../http/routes/questions.ts';
import { runRoutes } from '../http/routes/runs.ts';
import { savedViewRoutes } from '../http/routes/saved-views.ts';
import { typeRoutes } from '../http/routes/types.ts';

export const storeRoutes = {
  ...runRoutes, ...flowRoutes, ...questionRoutes, ...defRoutes, ...defDocumentRoutes, ...limitRoutes, ...alertRoutes,
  ...inboxRoutes, ...instanceRoutes, ...typeRoutes, ...auditRoutes, ...overviewRoutes,
  ...savedViewRoutes,
};

export type StoreRoute = keyof typeof storeRoutes;
