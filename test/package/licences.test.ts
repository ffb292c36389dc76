// The licences of all packages, and the bill of materials: it lists everything that the published package brings along.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { billOfMaterials, bundledPackages } from '../../tools/package/bill-of-materials.ts';

const root = join(import.meta.dirname, '..', '..');

/** Licences without conditions for programs that use the package, other than to keep the notice. */
const ofUsers = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'OFL-1.1'];
/** Tools are not passed on. */
const ofTools = [...ofUsers, 'MIT-0', 'MPL-2.0', 'Unlicense'];

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  /** A package of this repository. */
  readonly link?: true;
}

type Lock = Readonly<Record<string, Locked>>;

interface Component {
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly licenses?: readonly ({ readonly license: { readonly id?: string; readonly name?: string } } | { readonly expression: string })[];
}

const parsed = <Content>(path: string): Content => JSON.parse(readFileSync(join(root, path), 'utf8')) as Content;
const { packages: lock } = parsed<{ packages: Lock }>('package-lock.json');
const { name, dependencies } = parsed<{ name: string; dependencies: Record<string, string> }>('package.json');

/** Returns where a package finds another one, as Node does. */
function placeOf(wanted: string, from: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${wanted}`;
    if (lock[place] !== undefined) return place;
    if (folder === '') throw new Error(`${from} needs ${wanted}, which the lock file does not have`);
  }
}

/** Returns the packages and all that they need, as name@version. */
function withNeeded(names: readonly string[]): string[] {
  const places = new Set(names.map((each) => placeOf(each, '')));
  for (const place of places) {
    const { dependencies: own, optionalDependencies: optional } = lock[place]!;
    for (const each of Object.keys({ ...own, ...optional })) places.add(placeOf(each, place));
  }
  return [...places].map((place) => `${place.slice(place.lastIndexOf('node_modules/') + 13)}@${lock[place]!.version}`);
}

const licenceOf = ({ licenses = [] }: Component): string =>
  licenses.map((each) => ('expression' in each ? each.expression : (each.license.id ?? each.license.name))).join(' AND ');

describe('the bill of materials', () => {
  let components: readonly Component[];
  beforeAll(() => {
    ({ components } = JSON.parse(billOfMaterials(root, { name, dependencies })) as { components: readonly Component[] });
  });

  test('lists what the package installs and contains, and nothing else', () => {
    const listed = components.map((each) => `${each.group ? `${each.group}/` : ''}${each.name}@${each.version}`);
    expect(listed.toSorted()).toEqual(withNeeded([...Object.keys(dependencies), ...bundledPackages]).toSorted());
  });

  test('has only licences that users can accept', () => {
    expect(components.length).toBeGreaterThan(Object.keys(dependencies).length);
    expect(components.filter((each) => !ofUsers.includes(licenceOf(each))).map((each) => `${each.name}: ${licenceOf(each)}`)).toEqual([]);
  });
});

test('every package of the lock file has a known licence', () => {
  const installed = Object.entries(lock).filter(([place, { link }]) => place.includes('node_modules/') && !link);
  const unknown = installed.filter(([, { license = 'none' }]) => !ofTools.includes(license));
  expect(installed.length).toBeGreaterThan(100);
  expect(unknown.map(([place, { license }]) => `${place}: ${license}`)).toEqual([]);
});

test('the packages that the dashboard contains are known', () => {
  const sources = globSync('dashboard/**/*.{ts,tsx,css,html}', { cwd: root });
  const words = sources.flatMap((path) => [...readFileSync(join(root, path), 'utf8').matchAll(imported)].map(([, from]) => from!));
  const packages = words.filter((from) => !/^(?:[./]|node:|vite$|https?:|data:)/.test(from))
    .map((from) => from.split('/').slice(0, from.startsWith('@') ? 2 : 1).join('/'));
  expect([...new Set(packages)].toSorted()).toEqual(bundledPackages.toSorted());
});

const imported = /(?:from|import|@import|url\()\s*['"]([^'"\s]+)['"]/g;
