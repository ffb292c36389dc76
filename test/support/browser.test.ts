// The test support itself: the browser starts, runs scripts, and shows text.
import { expect } from 'vitest';
import { launchBrowser, plainPage, test } from './browser.ts';

test('a page runs scripts, knows its locale and shows text', async () => {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage(plainPage);
    await page.setContent(`<p>one</p><script>
      document.title = new Intl.NumberFormat().format(1234.5);
    </script>`);
    expect(await page.title()).toBe('1,234.5');
    const one = await page.screenshot();
    await page.setContent('<p>two</p>');
    // Without fonts both would be the same blank page.
    expect(one.equals(await page.screenshot())).toBe(false);
  } finally {
    await browser.close();
  }
});
