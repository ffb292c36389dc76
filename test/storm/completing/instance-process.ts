// One instance of the storm on `complete`.
import { Engine } from '../../../src/index.ts';
import type { InstanceOptions } from '../instance-process.ts';
import { ship, shipTasks } from './completing-types.ts';

const { url, ...options } = JSON.parse(process.argv[2]!) as InstanceOptions;

const engine = new Engine({ ...options, store: url, types: [ship, shipTasks] });
await engine.resume();
console.log('ready');
