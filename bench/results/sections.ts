/** The sections of RESULTS.md: those of this run replace the former ones, and the others stay. */

/** The order in which they appear. */
const order = [
  'Beside the peers', 'Transactions and steps beside the peers', 'Flows beside the peers',
  'Batches beside the peers', 'Beside the raw limit', 'How costs grow', 'The Bedrock server',
];

/** Returns the page with the sections of both, the latest if both have one. */
export function withFormerSections(latest: string, former: string): string {
  const [head, sections] = split(latest);
  const all = new Map([...split(former)[1], ...sections]);
  const titles = [...all.keys()].toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
  return [head, ...titles.map((title) => all.get(title)!)].map((text) => `${text.trim()}\n`).join('\n');
}

/** Splits a page into its text before the first section, and the sections by their titles. */
function split(page: string): readonly [head: string, sections: ReadonlyMap<string, string>] {
  const [head = '', ...sections] = page.split(/^(?=## )/m);
  return [head, new Map(sections.map((text) => [/^## (.*)/.exec(text)![1]!, text]))];
}
