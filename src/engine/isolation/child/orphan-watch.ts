/** The watch: a thread that ends its process once the engine's is gone, even out of an endless loop. */
import { Socket } from 'node:net';
import { pipes } from '../host/pipes.ts';

const life = new Socket({ fd: pipes.life, readable: true, writable: false });
life.on('error', () => {});
// The engine never writes here, so the end of the pipe is the end of the engine, however that came.
life.once('close', () => process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL'));
life.resume();
