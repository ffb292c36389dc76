/** What counts for a definition: the code's word, the operator's beside it, and which of them holds. */
import type { JSX } from 'preact';
import type { DefView } from '../../../../src/http/contract.ts';
import { Chip } from '../../components/badge.tsx';
import { exactText } from '../../exact-json.ts';
import { durationText } from './schedule-draft.ts';

type Spec = DefView['spec'];
type Setting = keyof Spec;

const names: Readonly<Partial<Record<Setting, string>>> = {
  type: 'Job type',
  schedules: 'Schedules',
  params: 'Parameters',
  overlap: 'Overlap',
  misfire: 'Misfire',
  priority: 'Priority',
  policy: 'Tries and times',
  gate: 'Limits',
  limitKey: 'Limit key',
  onePerType: 'One per type',
  manualRuns: 'Runs by hand',
  tags: 'Tags',
  inMemory: 'In memory',
};

export function Settings({ def: { code, override, spec } }: { readonly def: DefView }): JSX.Element {
  const settings = (Object.keys(names) as Setting[]).toSorted((a, b) =>
    Number(isSaid(override, b)) - Number(isSaid(override, a)));
  return (
    <div class="table-box" role="region" aria-label="Settings" tabIndex={0}>
      <table class="table settings">
        <thead>
          <tr><th scope="col">Setting</th><th scope="col">Code says</th><th scope="col">Operator says</th></tr>
        </thead>
        <tbody>
          {settings.map((setting) => {
            const isOverridden = isSaid(override, setting);
            return (
              <tr key={setting} data-overridden={isOverridden}>
                <th scope="row">{names[setting]}{isOverridden && <> <Chip>overridden</Chip></>}</th>
                <td data-title="Code says" data-counts={!isOverridden}>
                  <Value setting={setting} value={code[setting]} />
                </td>
                <td data-title="Operator says" data-counts={isOverridden}>
                  {isOverridden ? <Value setting={setting} value={spec[setting]} /> : <span class="faint">–</span>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const isSaid = (override: DefView['override'], setting: Setting): boolean =>
  override !== null && Object.hasOwn(override, setting) && override[setting] !== undefined;

function Value({ setting, value }: { readonly setting: Setting; readonly value: unknown }): JSX.Element {
  if (setting === 'schedules') {
    const schedules = value as Spec['schedules'];
    if (schedules.length === 0) return <span class="faint">none</span>;
    return <ul>{schedules.map((one, index) => <li key={index}><code>{scheduleText(one)}</code></li>)}</ul>;
  }
  if (setting === 'misfire') {
    const { policy, windowMs, cap } = value as Spec['misfire'];
    return <>{policy} <span class="faint">within {durationText(windowMs)}, at most {cap}</span></>;
  }
  if (typeof value === 'boolean') return <>{value ? 'yes' : 'no'}</>;
  if (value === null || value === undefined) return <span class="faint">none</span>;
  return typeof value === 'string' ? <>{value}</> : <code class="pre">{exactText(value)}</code>;
}

function scheduleText(schedule: Readonly<Record<string, unknown>>): string {
  const { kind, text, zone, everyMs, from, at, ...rest } = schedule;
  const policies = Object.entries(rest).map(([name, value]) =>
    `${name} ${name.endsWith('Ms') ? durationText(Number(value)) : String(value)}`);
  const base = kind === 'cron' ? `${String(text)} ${String(zone)}`
    : kind === 'every' ? `every ${durationText(Number(everyMs))} from ${String(from)}`
      : kind === 'at' ? `at ${new Date(Number(at)).toISOString()}` : String(text);
  return [base, ...policies].join(', ');
}
