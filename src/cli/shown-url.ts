/** The URL of a store for output: without its password, and without its query, which may contain another URL. */
export const shownUrl = (url: string): string => url.replace(/\?.*$/s, '').replace(/\/\/([^:@/]+):[^@/]+@/, '//$1:…@');
