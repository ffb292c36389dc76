// The test support itself: the browser starts, runs scripts, and shows text.
import { expect, test } from 'vitest';
import { launchBrowser, plainPage } from './browser.ts';

test('a page runs scripts, knows its locale and shows text', async () => {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage(plainPage);
    await page.setContent(`<span id="text">a few words</span><script>
      document.title = new Intl.NumberFormat().format(1234.5);
    </script>`);
    expect(await page.title()).toBe('1,234.5');
    const box = await page.locator('#text').boundingBox();
    expect(box?.width).toBeGreaterThan(20);
  } finally {
    await browser.close();
  }
});
