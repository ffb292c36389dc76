/** Every page, in the order of the navigation. A page is a file here and a line in this list. */
import type { Page } from '../page.ts';
import { definitionsPage } from './definitions.tsx';
import { overviewPage } from './overview.tsx';
import { runPage } from './run.tsx';
import { runsPage } from './runs.tsx';
import { typesPage } from './types.tsx';

export const pages: readonly Page[] = [overviewPage, runsPage, runPage, definitionsPage, typesPage];
