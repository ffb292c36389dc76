// What a program prints first: the part of its output that a pattern selects.
import type { ChildProcess } from 'node:child_process';

export async function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = '';
  child.stderr!.on('data', (piece: Buffer) => (text += piece.toString()));
  for await (const piece of child.stdout!) {
    const found = pattern.exec((text += String(piece)));
    if (found) return found[1]!;
  }
  throw new Error(`it ended without saying ${pattern}: ${text}`);
}
