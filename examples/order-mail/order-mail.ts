// An order and its e-mail in one transaction: either both exist or neither.
import { DatabaseSync } from 'node:sqlite';
import { Engine, jobType } from 'stint';
import { z } from 'zod';

const confirm = jobType('order.confirm', {
  input: z.object({ order: z.number(), to: z.email() }),
  // The key is the same for every attempt, so the mail service can detect a repetition.
  run: ({ input, idempotencyKey }) => `mail to ${input.to} for order ${input.order} (${idempotencyKey})`,
});

const file = '.stint/shop.db';
await using engine = new Engine({ store: `sqlite:${file}`, types: [confirm] });
await engine.resume();

const shop = new DatabaseSync(file);
shop.exec('create table if not exists orders (id integer primary key, customer text not null)');

async function order(customer: string, isPaid: boolean) {
  shop.exec('begin immediate');
  try {
    const id = Number(shop.prepare('insert into orders (customer) values (?)').run(customer).lastInsertRowid);
    const run = await engine.in(shop).createJobRun(confirm, { input: { order: id, to: customer } });
    if (!isPaid) throw new Error(`the card of ${customer} was declined`);
    shop.exec('commit');
    return run;
  } catch (error) {
    shop.exec('rollback');
    throw error;
  }
}

const run = await order('ada@example.org', true);
console.log(await run.result());

await order('bob@example.org', false).catch((error: Error) => console.log(error.message));
const { n: orders } = shop.prepare('select count(*) as n from orders').get() as { n: number };
const runs = await engine.count({ types: ['order.confirm'] });
console.log(`orders: ${orders}, runs: ${runs[0]!.count}`);
shop.close();
