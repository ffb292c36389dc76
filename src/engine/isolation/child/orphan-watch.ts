/**
 * The orphan watch: a thread that kills its process when the engine has ended, even if the handler loops forever. It is
 * started from its source, since a bundle of the child has no file for it. The engine holds the pipe open and never
 * writes to it, so the pipe closes when the engine's process ends.
 */
import { Worker } from 'node:worker_threads';
import { pipes } from '../frames.ts';

const source = `
const { Socket } = require('node:net');
const { workerData: fd } = require('node:worker_threads');
const life = new Socket({ fd, readable: true, writable: false });
life.on('error', () => {});
life.once('close', () => process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL'));
life.resume();
`;

export function startOrphanWatch(): void {
  new Worker(source, { eval: true, name: 'stint orphan watch', workerData: pipes.life, execArgv: [] }).unref();
}
