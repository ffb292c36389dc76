// The PostgreSQL store under the conformance suite.
import { conform } from './conform.ts';

conform('PostgreSQL');
