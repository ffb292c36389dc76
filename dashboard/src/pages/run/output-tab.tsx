/** The output of a run; new chunks appear as they are written. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { OutputChunkView, RunDetail } from '../../../../src/http/contract.ts';
import { CheckField } from '../../components/field.tsx';
import { Empty } from '../../components/notice.tsx';
import { plural } from '../../format.ts';
import { useRunOutput } from '../../state/run-output.ts';

export function OutputTab({ run }: { readonly run: RunDetail }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const { chunks, isCut } = useRunOutput(run);
  useEffect(() => {
    if (isFollowing && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [chunks, isFollowing]);
  if (chunks.length === 0) {
    return (
      <Empty title="No output" icon="runs">
        A handler writes it with <code>output.write(…)</code>. New chunks appear here while it works.
      </Empty>
    );
  }
  return (
    <section>
      <div class="tab-head">
        <span class="faint">{plural(chunks.length, 'chunk')}{isCut ? ', older ones are not shown' : ''}</span>
        <span class="filters-right"><CheckField label="Follow" isOn={isFollowing} onChange={setFollowing} /></span>
      </div>
      <div class="log output" ref={box} role="log" aria-label="Output" tabIndex={0}>
        {blocksOf(chunks).map(({ key, step, text }) => (
          <div key={key} class="output-block">
            {step !== null && <small class="faint">{step}</small>}
            <span>{text}</span>
          </div>
        ))}
      </div>
    </section>
  );
}

interface Block {
  readonly key: string;
  readonly step: string | null;
  readonly text: string;
}

/** Joins consecutive texts of one step; any other value is a block of its own. */
function blocksOf(chunks: readonly OutputChunkView[]): readonly Block[] {
  const blocks: { readonly key: string; readonly step: string | null; readonly texts: string[]; readonly isText: boolean }[] = [];
  for (const { position, step, value } of chunks) {
    const isText = typeof value === 'string';
    const text = isText ? value : JSON.stringify(value);
    const last = blocks.at(-1);
    if (isText && last?.isText === true && last.step === step) last.texts.push(text);
    else blocks.push({ key: position, step, texts: [text], isText });
  }
  return blocks.map(({ key, step, texts }) => ({ key, step, text: texts.join('') }));
}
