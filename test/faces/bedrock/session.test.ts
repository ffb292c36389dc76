// The sample session of seed 2: what is typed goes in as it stands there, and what it shows comes out.
import { expect } from 'vitest';
import { both, minute } from './world.ts';

for (const { name, test } of both) {
  test(`the sample session goes as the seed shows it, on ${name}`, async ({ world }) => {
    const { client } = world;
    const type = async (text: string) => {
      client.send(text);
      return client.answer();
    };
    const created = await type('CreateJob\nname: foo\ndata: {"value":1}\nrepeat: finished, +1 minute\n\n');
    expect(created.text).toBe('200 OK\r\nContent-Length: 11\r\n\r\n{"jobID":1}');

    const first = await type('GetJob\nname: foo\n\n');
    expect(first.status).toBe('200 OK');
    expect(JSON.parse(first.body)).toMatchObject({ data: { value: 1 }, jobID: 1, name: 'foo' });

    const updated = await type('UpdateJob\njobID: 1\ndata: {"value":2}\n\n');
    expect(updated.text).toBe('200 OK\r\nContent-Length: 0\r\n\r\n');

    const queried = await type('QueryJob\njobID: 1\n\n');
    expect(JSON.parse(queried.body)).toMatchObject({ data: { value: 2 }, jobID: 1, name: 'foo', state: 'RUNNING' });

    const finished = await type('FinishJob\njobID: 1\ndata: {"value":3}\n\n');
    expect(finished.text).toBe('200 OK\r\nContent-Length: 0\r\n\r\n');

    expect((await type('GetJob\nname: foo\n\n')).status).toBe('404 No job found');

    if (name === 'SQLite') {
      const listed = await type('Query\nquery: select * from jobs;\n\n');
      expect(listed.body).toBe(
        '[["2026-03-01 12:00:00",1,"QUEUED","foo","2026-03-01 12:01:00","2026-03-01 12:00:00",' +
          '"FINISHED, +1 MINUTE",{"value":3},500,0,""]]',
      );
    }
    await world.advance(minute);
    const second = await type('GetJob\nname: foo\n\n');
    expect(JSON.parse(second.body)).toMatchObject({ data: { value: 3 }, jobID: 1, name: 'foo' });
  });
}
