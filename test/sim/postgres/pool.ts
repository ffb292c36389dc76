// The pool of a simulated process: that of `pg`, whose only timer is one of virtual time.
import pg from 'pg';
import type { PgDriver } from '../../../src/store/postgres/sql/driver.ts';
import type { Clock } from '../../../src/time/clock.ts';

type OnClient = (error: Error | undefined, client: pg.PoolClient | undefined, release: () => void) => void;

export const poolClassOf = (clock: Clock): PgDriver['Pool'] =>
  class PoolOfProcess extends pg.Pool {
    readonly #limitMs: number;

    constructor(config: pg.PoolConfig) {
      super({ ...config, idleTimeoutMillis: 0, connectionTimeoutMillis: 0 });
      this.#limitMs = config.connectionTimeoutMillis!;
    }

    override connect(): Promise<pg.PoolClient>;
    override connect(callback: OnClient): void;
    override connect(callback?: OnClient): Promise<pg.PoolClient> | void {
      if (callback) return super.connect(callback);
      return new Promise((resolve, reject) => {
        let isLate = false;
        const stopTimer = clock.after(this.#limitMs, () => {
          isLate = true;
          reject(new Error('timeout exceeded when trying to connect'));
        });
        super.connect((error, client) => {
          stopTimer();
          if (isLate) client?.release();
          else if (error) reject(error);
          else resolve(client!);
        });
      });
    }
  };
