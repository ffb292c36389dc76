/** The stored text of a progress tree: JSON of limited size. */
import { withOnly } from '../../model/progress-tree.ts';
import type { ProcessNode, Progress } from '../../model/progress.ts';

export const progressBytesMax = 262_144;

/**
 * Each cut leaves at most `items` items of each stage and `stages` stages of each process in the text. The first cut
 * that makes the text small enough is used.
 */
const cuts = [
  { items: 100, stages: 100 },
  { items: 30, stages: 100 },
  { items: 10, stages: 100 },
  { items: 3, stages: 100 },
  { items: 0, stages: 30 },
  { items: 0, stages: 10 },
  { items: 0, stages: 1 },
];

/**
 * Returns the progress tree as JSON. Drops the oldest items and stages until the JSON fits: the model limits the number
 * of nodes, but not the total length of their texts.
 */
export function progressText(progress: Progress): string {
  let text = JSON.stringify(progress);
  for (const cut of cuts) {
    if (Buffer.byteLength(text) <= progressBytesMax) break;
    text = JSON.stringify({ ...progress, processes: progress.processes.map((process) => shortened(process, cut)) });
  }
  return text;
}

function shortened(process: ProcessNode, { items, stages }: (typeof cuts)[number]): ProcessNode {
  const newestStages = process.stages.slice(-stages);
  return {
    ...process,
    stages: newestStages.map((stage) => withOnly(stage, stage.items.slice(Math.max(0, stage.items.length - items)))),
    stagesDropped: process.stagesDropped + process.stages.length - newestStages.length,
  };
}
