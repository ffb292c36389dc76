// Builds the documentation site of this version: node site/build.ts [FOLDER], after `npm ci` in this folder.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

const here = import.meta.dirname;
const folder = resolve(process.argv[2] ?? resolve(here, '../artifacts/site'));
const pages = resolve(here, 'pages');

// VitePress resolves its packages from the folder of the pages.
rmSync(pages, { recursive: true, force: true });
cpSync(resolve(here, '../docs'), pages, { recursive: true });
const vitepress = resolve(here, 'node_modules/vitepress/bin/vitepress.js');
const env = { ...process.env, STINT_SITE_FOLDER: folder };
const { status } = spawnSync(process.execPath, [vitepress, 'build'], { cwd: here, env, stdio: 'inherit' });
rmSync(pages, { recursive: true, force: true });
process.exitCode = status ?? 1;
