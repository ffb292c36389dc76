// The client in Go passes the suite of all clients.
import { goClient } from './clients.ts';
import { protocolSuite } from './protocol.ts';

protocolSuite(goClient);
