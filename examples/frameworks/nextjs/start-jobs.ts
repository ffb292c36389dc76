// Executes jobs in this process until it ends.
import { engine } from './jobs';

await engine.resume();
// With NEXT_MANUAL_SIG_HANDLE=true Next.js leaves signals to the application: running handlers may end.
process.once('SIGTERM', () => void engine.close().then(() => process.exit(0)));
