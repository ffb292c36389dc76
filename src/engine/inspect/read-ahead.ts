/**
 * Reading ahead: several pages are worked on at the same time, and come out in their order. The first page is worked on
 * alone, because it often has all that the caller takes; then twice as many each time, up to `most`.
 */
export async function* readAhead<Page, Read>(
  pages: AsyncGenerator<Page, void>,
  read: (page: Page) => Promise<Read>,
  most: number,
): AsyncGenerator<Read, void> {
  const running: Promise<Read>[] = [];
  try {
    for (let atOnce = 1; ; atOnce = Math.min(most, 2 * atOnce)) {
      while (running.length < atOnce) {
        const page = await pages.next();
        if (page.done === true) break;
        const reading = read(page.value);
        reading.catch(() => {}); // thrown below, unless the caller has left
        running.push(reading);
      }
      const first = running.shift();
      if (first === undefined) return;
      yield await first;
    }
  } finally {
    await pages.return();
  }
}
