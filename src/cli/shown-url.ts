/** The URL of a store for output: without its password, and without its query, which may contain another URL. */
export const shownUrl = (url: string): string =>
  url.replace(/\?.*$/s, '').replace(/\/\/([^:@/]*)([:@].*)?@/s, (_, user: string, secret?: string) =>
    `//${user}${secret === undefined ? '' : ':…'}@`);
