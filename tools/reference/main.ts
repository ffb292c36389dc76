// `npm run docs`: writes the reference anew.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './declarations.ts';
import { folder, pages } from './pages.ts';

mkdirSync(join(root, folder), { recursive: true });
for (const [name, make] of Object.entries(pages)) {
  writeFileSync(join(root, folder, name), make());
  console.log(`${folder}/${name}`);
}
