/** The addresses that a job may call: those of the public internet, and those that the operator allows. */
import { BlockList, isIP } from 'node:net';
import { Refusal } from '../refusal.ts';

/**
 * The IPv4 ranges that are not public, by RFC 6890 and its successors: private, loopback, documentation and so on.
 * 169.254.0.0/16 (link-local) includes the metadata service of cloud providers.
 */
const closedIpv4 = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24',
  '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '224.0.0.0/4', '240.0.0.0/4',
];
/**
 * The range of all public IPv6 addresses. Outside of it are loopback, link-local, unique local, IPv4-mapped and
 * translated (NAT64) addresses.
 */
const openIpv6 = ['2000::/3'];
/** The parts of 2000::/3 that are not public: 2001::/23 with Teredo, documentation, and 6to4, which embeds IPv4. */
const closedIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const closed = listOf([...closedIpv4, ...closedIpv6]);
const open = listOf(openIpv6);

export class Reach {
  readonly #letIn: BlockList;

  /** `letIn`: addresses, and ranges such as 10.0.0.0/8, that may be called although they are not public. */
  constructor(letIn: readonly string[] = []) {
    this.#letIn = listOf(letIn);
  }

  includes(address: string): boolean {
    const family = isIP(address);
    if (family === 0) return false;
    if (this.#letIn.check(address, family === 6 ? 'ipv6' : 'ipv4')) return true;
    if (family === 4) return !closed.check(address, 'ipv4');
    return open.check(address, 'ipv6') && !closed.check(address, 'ipv6');
  }
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) add(list, range);
  return list;
}

function add(list: BlockList, range: string): void {
  const [, address = '', bits] = /^([0-9a-f.:]{2,45})(?:\/(\d{1,3}))?$/i.exec(range) ?? [];
  const family = isIP(address);
  const bitsMax = family === 6 ? 128 : 32;
  if (family === 0 || Number(bits ?? 0) > bitsMax) {
    throw new Refusal('malformed.option', `${range.slice(0, 60)} is no address and no range such as 10.0.0.0/8`, {});
  }
  list.addSubnet(address, Number(bits ?? bitsMax), family === 6 ? 'ipv6' : 'ipv4');
}
