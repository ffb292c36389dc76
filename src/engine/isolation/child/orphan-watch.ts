/** The orphan watch: a thread that kills its process when the engine has ended, even if the handler loops forever. */
import { Socket } from 'node:net';
import { pipes } from '../frames.ts';

const life = new Socket({ fd: pipes.life, readable: true, writable: false });
life.on('error', () => {});
// The engine holds this pipe open and never writes to it. The pipe closes when the engine's process ends.
life.once('close', () => process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL'));
life.resume();
