/** The settings of a definition: the declared value, and the override beside it. */
import type { JSX } from 'preact';
import type { DefView } from '../../../../src/http/contract.ts';
import { Chip } from '../../components/badge.tsx';
import { exactText } from '../../exact-json.ts';
import { number } from '../../format.ts';
import { durationText } from './schedule-draft.ts';

type Spec = DefView['spec'];
type Setting = keyof Spec;

const names: Readonly<Partial<Record<Setting, string>>> = {
  type: 'Job type',
  schedules: 'Schedules',
  after: 'Follows',
  on: 'Starts after',
  afterFailure: 'If a followed run does not succeed',
  params: 'Parameters',
  overlap: 'Overlap',
  misfire: 'Missed ticks',
  priority: 'Priority',
  policy: 'Retries and timeouts',
  gate: 'Limits',
  limitKey: 'Limit key',
  onePerType: 'One per type',
  manualRuns: 'Manual runs',
  tags: 'Tags',
  inMemory: 'In memory',
};

export function Settings({ def: { code, override, spec } }: { readonly def: DefView }): JSX.Element {
  const settings = (Object.keys(names) as Setting[]).toSorted((a, b) =>
    Number(isSet(override, b)) - Number(isSet(override, a)));
  return (
    <div class="table-box" role="region" aria-label="Settings" tabIndex={0}>
      <table class="table settings">
        <thead>
          <tr><th scope="col">Setting</th><th scope="col">Declared</th><th scope="col">Override</th></tr>
        </thead>
        <tbody>
          {settings.map((setting) => {
            const isOverridden = isSet(override, setting);
            return (
              <tr key={setting} data-overridden={isOverridden}>
                <th scope="row">{names[setting]}{isOverridden && <> <Chip>overridden</Chip></>}</th>
                <td data-title="Declared" data-counts={!isOverridden}>
                  <Value setting={setting} value={code[setting]} />
                </td>
                <td data-title="Override" data-counts={isOverridden}>
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

const isSet = (override: DefView['override'], setting: Setting): boolean =>
  override !== null && Object.hasOwn(override, setting) && override[setting] !== undefined;

function Value({ setting, value }: { readonly setting: Setting; readonly value: unknown }): JSX.Element {
  if (setting === 'schedules') {
    const schedules = value as Spec['schedules'];
    if (schedules.length === 0) return <span class="faint">none</span>;
    return <ul>{schedules.map((one, index) => <li key={index}><code>{scheduleText(one)}</code></li>)}</ul>;
  }
  if (setting === 'after' && Array.isArray(value)) return <>{value.length === 0 ? 'none' : value.join(', ')}</>;
  if (setting === 'misfire') {
    const { policy, windowMs, cap } = value as Spec['misfire'];
    return <>{policy} <span class="faint">within {durationText(windowMs)}, at most {number(cap)}</span></>;
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
