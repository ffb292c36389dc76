// The proof: what was tried against this commit, part by part. Kept in proof.json, so that a run can be resumed.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { version } from '../../src/version.ts';
import type { PartOutcome, Size } from './part.ts';

export interface PartReport extends PartOutcome {
  readonly at: string;
  readonly seconds: number;
  readonly isKept: boolean;
}

export interface Proof {
  readonly stint: string;
  readonly node: string;
  readonly platform: string;
  readonly commit: string | null;
  readonly size: Size;
  readonly parts: Readonly<Record<string, PartReport>>;
  /** Every part of this size was tried, and held. */
  readonly isKept: boolean;
}

const file = 'proof.json';

export const emptyProof = (size: Size): Proof => ({
  stint: version,
  node: process.version,
  platform: `${process.platform}-${process.arch}`,
  commit: commitOfTree(),
  size,
  parts: {},
  isKept: false,
});

/** What an earlier run found, if it was of the same commit, size and machine; else an empty proof. */
export function storedProof(size: Size): Proof {
  const fresh = emptyProof(size);
  if (fresh.commit === null || !existsSync(file)) return fresh;
  const stored = JSON.parse(readFileSync(file, 'utf8')) as Proof;
  const isSame = (['stint', 'node', 'platform', 'commit', 'size'] as const).every((key) => stored[key] === fresh[key]);
  return isSame ? stored : fresh;
}

export function withPart(proof: Proof, name: string, report: PartReport, needed: readonly string[]): Proof {
  const parts = { ...proof.parts, [name]: report };
  return { ...proof, parts, isKept: needed.every((each) => parts[each]?.isKept === true) };
}

export const writeProof = (proof: Proof): void => writeFileSync(file, `${JSON.stringify(proof, null, 2)}\n`);

export function proofText({ stint, node, platform, commit, size, parts, isKept }: Proof): string {
  const head = `Stint ${stint} on Node ${node} ${platform}, ${commit?.slice(0, 12) ?? 'uncommitted changes'}, size ${size}`;
  const lines = Object.entries(parts).map(([name, part]) => `${part.isKept ? 'kept' : 'NOT KEPT'}  ${lineOf(name, part)}`);
  return [head, ...lines, isKept ? 'every promise was kept' : 'NOT every promise was shown to be kept'].join('\n');
}

export function lineOf(name: string, { seconds, figures, findings }: PartReport): string {
  const text = Object.entries(figures).map(([what, count]) => `${what} ${count}`).join(', ');
  return [`${name} (${seconds} s): ${text}`, ...findings.map((finding) => `    ${finding}`)].join('\n');
}

/** Null: the tree has changes that are not committed, or is no checkout. */
function commitOfTree(): string | null {
  try {
    if (git('status', '--porcelain', '--untracked-files=no') !== '') return null;
    return git('rev-parse', 'HEAD');
  } catch {
    return null;
  }
}

const git = (...args: string[]): string =>
  execFileSync('git', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString().trim();
