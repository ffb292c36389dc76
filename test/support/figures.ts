// What a test of the proof has measured: it stands among the figures of its part.
export type Figures = Readonly<Record<string, number | string>>;

declare module 'vitest' {
  interface TaskMeta {
    figures?: Figures;
  }
}
