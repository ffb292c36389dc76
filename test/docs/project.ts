// The project of a user who has installed Stint: a folder of its own in which programs are checked and run.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './page.ts';
import { testMs } from '../support/patience.ts';

export interface Outcome {
  readonly code: number;
  readonly out: string;
}

export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), 'stint-docs-'));

  constructor() {
    const modules = join(this.folder, 'node_modules');
    mkdirSync(modules);
    const installed = readdirSync(join(root, 'node_modules')).filter((name) => name !== '.bin');
    for (const name of installed) symlinkSync(join(root, 'node_modules', name), join(modules, name));
    symlinkSync(root, join(modules, 'stint'));
    this.write('package.json', JSON.stringify({ type: 'module' }));
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  /** Answers what the compiler has to say, line by line. */
  async typecheck(): Promise<string[]> {
    const settings = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
      include: ['**/*.ts'],
    };
    this.write('tsconfig.json', JSON.stringify(settings));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { out } = await this.run(process.execPath, [tsc, '-p', '.', '--checkers', '1']);
    return out.split('\n').filter((line) => line.trim() !== '');
  }

  run(program: string, args: readonly string[], { cwd = '.', env = {} }: RunOptions = {}): Promise<Outcome> {
    const folder = join(this.folder, cwd);
    mkdirSync(folder, { recursive: true });
    return new Promise((resolve) => {
      const options = { cwd: folder, env: this.#environment(env), timeout: testMs, maxBuffer: 10_000_000 };
      execFile(program, [...args], options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, out: stdout + stderr });
      });
    });
  }

  /** A program that does not end by itself; resolves once its output matches `until`. */
  async start(args: readonly string[], until: RegExp, { cwd = '.', env = {} }: RunOptions = {}): Promise<Started> {
    const folder = join(this.folder, cwd);
    mkdirSync(folder, { recursive: true });
    const child = spawn(process.execPath, [...args], { cwd: folder, env: this.#environment(env) });
    const over = new Promise<number | null>((resolve) => child.on('exit', resolve));
    const said = await new Promise<RegExpExecArray>((resolve, reject) => {
      let text = '';
      const hear = (chunk: Buffer): void => {
        text += chunk.toString();
        const found = until.exec(text);
        if (found) resolve(found);
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.on('exit', (code) => reject(new Error(`ended with ${code} before it said ${until}: ${text}`)));
    });
    return { said, stop: async () => (child.kill('SIGTERM'), over) };
  }

  #environment(env: RunOptions['env']): NodeJS.ProcessEnv {
    return { ...process.env, ...env };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface Started {
  readonly said: RegExpExecArray;
  /** Answers the exit code. */
  stop(): Promise<number | null>;
}

interface RunOptions {
  /** Below the project's folder; made if it is not there. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}
