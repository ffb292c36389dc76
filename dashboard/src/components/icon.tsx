/** Icons, drawn as strokes on a square of 16 units. Each is next to a text, so it is hidden from screen readers. */
import type { JSX } from 'preact';

const paths = {
  pending: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 5v3.2l2 1.4',
  held: 'M6 4v8M10 4v8',
  running: 'M13.5 8A5.5 5.5 0 1 1 8 2.5M8 2.5a5.5 5.5 0 0 1 3.9 1.6',
  succeeded: 'M3 8.5 6.4 12 13 4.5',
  failed: 'M4 4l8 8M12 4l-8 8',
  cancelled: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M4.2 4.2l7.6 7.6',
  cancelling: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M6 6l4 4M10 6l-4 4',
  overview: 'M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5V7.500M13.5 13.500v-11',
  runs: 'M2.500 4h7M5 8h8.500M3.500 12h6',
  flows: 'M2.500 2.500h4v4h-4zM9.500 9.500h4v4h-4zM4.500 6.500v5h5',
  types: 'M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z',
  schedules: 'M2.500 4.500h11v9h-11zM2.500 7.500h11M5.500 2.500v3M10.500 2.500v3',
  queues: 'M2.500 3.500h11M2.500 8h11M2.500 12.500h6',
  limits: 'M2.500 11.500a5.500 5.500 0 0 1 11 0M8 11.500l2.500-3.500M2.500 13.500h11',
  instances: 'M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.01M5 11h.01',
  failures: 'M8 2.500 14 13.500H2zM8 6.500v3.200M8 11.600h.01',
  operations: 'M3 8a5 5 0 0 1 9-3M13 8a5 5 0 0 1-9 3M12 2.500V5H9.500M4 13.500V11h2.500',
  settings: 'M2.500 5h6M11.500 5h2M2.500 11h2M7.500 11h6M8.500 3.500v3M4.500 9.500v3',
  search: 'M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9M10.500 10.500l3 3',
  play: 'M5 3.500v9l7-4.500z',
  pause: 'M6 4v8M10 4v8',
  stop: 'M4 4h8v8H4z',
  retry: 'M13 8a5 5 0 1 1-1.500-3.500M12 2v3H9',
  copy: 'M5.500 5.500h7v7h-7zM3.500 10.500v-7h7',
  trash: 'M3 4.500h10M6 4.500v-2h4v2M4.500 4.500l.5 9h6l.5-9',
  sun: 'M8 5.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5M8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M3.400 12.600l1-1M11.600 4.400l1-1',
  moon: 'M13 9.500A5.500 5.500 0 0 1 6.500 3a5.500 5.500 0 1 0 6.500 6.500z',
  clock: 'M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11M8 5v3.200l2 1.400',
  menu: 'M2.500 4.500h11M2.500 8h11M2.500 11.500h11',
  close: 'M4 4l8 8M12 4l-8 8',
  right: 'M6 3.500 10.500 8 6 12.500',
  left: 'M10 3.500 5.500 8l4.500 4.500',
  down: 'M3.500 6 8 10.500 12.500 6',
  export: 'M8 2.500v7M5 6.800l3 3 3-3M3 13.500h10',
  edit: 'M3 13l.6-3L10.500 3.200l2.300 2.300L6 12.400z',
  question: 'M6 6a2 2 0 1 1 2.700 1.900c-.5.200-.7.600-.7 1.300M8 11.600h.01M8 1.800a6.200 6.200 0 1 0 0 12.400A6.200 6.200 0 0 0 8 1.800',
  star: 'M8 2.200l1.800 3.700 4 .6-2.900 2.900.7 4L8 11.500l-3.600 1.900.7-4L2.200 6.500l4-.6z',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, class: extra = '' }: { readonly name: IconName; readonly class?: string }): JSX.Element {
  return (
    <svg class={`icon ${extra}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
