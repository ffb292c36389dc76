// The client in Python passes the suite of all clients.
import { pythonClient } from './clients.ts';
import { protocolSuite } from './protocol.ts';

protocolSuite(pythonClient);
