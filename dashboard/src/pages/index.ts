/** All pages, in the order of the navigation. A page is a file in this folder and an entry in this list. */
import type { Page } from '../page.ts';
import { alertsPage } from './alerts.tsx';
import { auditPage } from './audit.tsx';
import { definitionsPage } from './definitions.tsx';
import { failuresPage } from './failures.tsx';
import { flowPage } from './flow.tsx';
import { flowsPage } from './flows.tsx';
import { inboxPage } from './inbox.tsx';
import { instancesPage } from './instances.tsx';
import { limitsPage } from './limits.tsx';
import { operationsPage } from './operations.tsx';
import { overviewPage } from './overview.tsx';
import { questionsPage } from './questions.tsx';
import { queuesPage } from './queues.tsx';
import { runPage } from './run.tsx';
import { runsPage } from './runs.tsx';
import { settingsPage } from './settings.tsx';
import { typesPage } from './types.tsx';

export const pages: readonly Page[] = [
  overviewPage, runsPage, runPage, flowsPage, flowPage, questionsPage, failuresPage, definitionsPage, typesPage,
  queuesPage, limitsPage, alertsPage, inboxPage, instancesPage, operationsPage, auditPage, settingsPage,
];
