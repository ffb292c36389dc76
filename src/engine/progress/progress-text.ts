/** The text of a tree of progress, as it is stored: JSON of a bounded size. */
import type { ProcessNode, Progress } from '../../model/progress.ts';

export const progressBytesMax = 262_144;

/** What is kept of each stage and of each process, tried until it fits. The last one does with the longest texts. */
const cuts = [
  { items: 100, stages: 100 },
  { items: 30, stages: 100 },
  { items: 10, stages: 100 },
  { items: 3, stages: 100 },
  { items: 0, stages: 30 },
  { items: 0, stages: 10 },
  { items: 0, stages: 1 },
];

/** The model bounds how many nodes there are, but not how long their texts are together. The oldest ones go. */
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
    stages: newestStages.map((stage) => ({ ...stage, items: stage.items.slice(Math.max(0, stage.items.length - items)) })),
    stagesDropped: process.stagesDropped + process.stages.length - newestStages.length,
  };
}
