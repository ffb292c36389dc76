// The client in TypeScript passes the suite of all clients.
import { typescriptClient } from './clients.ts';
import { protocolSuite } from './protocol.ts';

protocolSuite(typescriptClient);
