/** The saved view: a named query of a list page of the dashboard, which everybody who may read sees. */

/** The pages of the dashboard whose query can be saved. */
export const savedViewPages = ['runs', 'definitions', 'failures', 'types', 'queues', 'audit'] as const;
export type SavedViewPage = (typeof savedViewPages)[number];

export interface SavedViewContent {
  readonly name: string;
  readonly page: SavedViewPage;
  /** The query of the URL of the page, without `?`. */
  readonly query: string;
  /** Who saved it last, and when. */
  readonly by: string;
  readonly at: number;
}
