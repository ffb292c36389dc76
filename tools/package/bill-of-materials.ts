/**
 * The bill of materials of the package, in the format CycloneDX: what the lock file installs for users, and what the
 * dashboard contains. `npm sbom --omit=dev` leaves out packages that are also dependencies of tools, such as pg, so that
 * the list of all packages is filtered here.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Bill {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly { readonly 'bom-ref': string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Installed {
  readonly name: string;
  /** The direct dependencies, with their exact versions. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Packages whose code or fonts the build of the dashboard copies into the published package. */
export const bundledPackages = [
  '@fontsource-variable/ibm-plex-sans', '@fontsource/ibm-plex-mono', '@preact/signals', 'preact', 'uplot',
];

export function billOfMaterials(root: string, { name, dependencies }: Installed): string {
  const bill = fullBill(root);
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as DeclaredTools;
  const bundled = bundledPackages.map((each) => [each, devDependencies[each]]);
  const direct = [...Object.entries(dependencies), ...bundled].map((pair) => pair.join('@'));
  const needed = reachable(bill, direct);
  const { component } = bill.metadata;
  const own = { ref: component['bom-ref'], dependsOn: direct };
  return `${JSON.stringify({
    ...bill,
    // npm takes the name of the folder.
    metadata: { ...bill.metadata, component: { ...component, name } },
    components: bill.components.filter((each) => needed.has(each['bom-ref'])),
    dependencies: [own, ...bill.dependencies.filter(({ ref }) => needed.has(ref))],
  }, null, 2)}\n`;
}

interface DeclaredTools {
  readonly devDependencies: Readonly<Record<string, string>>;
}

function fullBill(root: string): Bill {
  const words = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=library', '--package-lock-only', '--workspaces=false'];
  const options = { cwd: root, env: environment(), encoding: 'utf8', maxBuffer: 50_000_000 } as const;
  return JSON.parse(execFileSync('npm', words, options)) as Bill;
}

/** npm passes its settings on in variables, of which those of an outer command do not apply here. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name)));

function reachable({ dependencies }: Bill, from: readonly string[]): ReadonlySet<string> {
  const edges = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const found = new Set(from);
  for (const ref of found) for (const next of edges.get(ref) ?? []) found.add(next);
  return found;
}
