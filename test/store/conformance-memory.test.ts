// The memory store under the conformance suite. Its random histories are compared with themselves: they must replay.
import { conform } from './conform.ts';

conform('memory');
