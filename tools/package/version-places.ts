/** The places that contain the version of the package. package.json decides; set-version.ts writes the others. */

interface Place {
  readonly path: string;
  /** Matches what is before a version. */
  readonly before: RegExp;
  /** Only the first two numbers are there. */
  readonly isMinor?: boolean;
}

const places: readonly Place[] = [
  { path: 'package.json', before: /"name": "stint",\s+"version": "/ },
  { path: 'package-lock.json', before: /"name": "stint",\s+"version": "/ },
  { path: 'src/version.ts', before: /export const version = '/ },
  { path: 'clients/python/pyproject.toml', before: /\nversion = "/ },
  { path: 'deploy/helm/stint/Chart.yaml', before: /\n(?:version: |appVersion: ")/ },
  { path: 'test/deploy/rendered.yaml', before: /app\.kubernetes\.io\/version: "|helm\.sh\/chart: stint-|registry\.example\/stint:/ },
  { path: 'README.md', before: /\bstint-(?=[\d.]+\.tgz)/ },
  { path: 'README.md', before: /Stint is at version / },
  { path: 'README.md', before: /\| Stint (?=\d)/, isMinor: true },
];

export const versionPaths: readonly string[] = [...new Set(places.map(({ path }) => path))];

/** Returns the text of a file with another version. Throws if a place is missing. */
export function withVersion(path: string, text: string, version: string): string {
  return places.filter((place) => place.path === path).reduce((changed, { before, isMinor = false }) => {
    const numbers = isMinor ? /\d+\.\d+/ : /\d+\.\d+\.\d+/;
    const pattern = new RegExp(`(${before.source})${numbers.source}`, 'g');
    if (!pattern.test(changed)) throw new Error(`${path} has no version behind ${before.source}`);
    const written = isMinor ? version.split('.').slice(0, 2).join('.') : version;
    return changed.replaceAll(pattern, (_, kept: string) => `${kept}${written}`);
  }, text);
}
